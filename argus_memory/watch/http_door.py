"""What a webhook and ntfy have in common: one POST, its answer judged, no secret in the error."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from argus_memory.rules.send_answers import Answer, judge_break, judge_http
from argus_memory.settings import Settings
from argus_memory.watch.http_client import quiet_http_logs, tls_context
from argus_memory.watch.message_text import hide_secrets

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS, READ_SECONDS = 5.0, 15.0
SAID_MAX = 200  # characters of an answer's body that are kept with an error
WAIT_UNTOLD = 5.0


class HttpDoor:
    """One client for a pass of the sender."""

    def __init__(self, settings: Settings) -> None:
        quiet_http_logs()
        import httpx

        self._settings = settings
        self._client = httpx.Client(
            timeout=httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
            follow_redirects=False,
            verify=tls_context(),
        )

    def close(self) -> None:
        self._client.close()

    def probe(self) -> Answer:
        """Nothing to ask without a message: the message itself is the question."""
        return Answer("sent")

    def post(self, url: str, content: bytes, headers: Mapping[str, str]) -> Answer:
        import httpx

        try:
            reply = self._client.post(url, content=content, headers=dict(headers))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            name = type(error).__name__
            kind = "key" if isinstance(error, httpx.InvalidURL) else judge_break(name)
            return Answer(kind, None, hide_secrets(f"{name}: {error}", self._settings))
        kind = judge_http(reply.status_code)
        if kind == "sent":
            return Answer("sent", reply.status_code)
        said = " ".join(reply.text.split())[:SAID_MAX]
        error_text = hide_secrets(f"{reply.status_code} {said}".strip(), self._settings)
        return Answer(kind, reply.status_code, error_text, wait=_retry_after(reply) if kind == "slow-down" else None)


def _retry_after(reply: httpx.Response) -> float:
    """Seconds of a Retry-After header, which may be a number or a date."""
    told = reply.headers.get("retry-after", "")
    try:
        if told.isdecimal():
            return float(told)
        return max(0.0, (parsedate_to_datetime(told) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return WAIT_UNTOLD
