"""`argus doctor`, the part that does as a client does: tokens, the API's clock, and one capture found again.

Everything is asked at ARGUS_API_URL, where hooks and agents find the hub, and not where the hub itself listens.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

from argus_cli.doctor_hub import judge_skew
from argus_cli.findings import Finding
from argus_memory.records import CANARY_PROJECT, CANARY_SESSION
from argus_memory.settings import Settings

CANARY_SOURCE = "argus"
SECONDS = 15.0


def check_tokens(settings: Settings, running: bool) -> Iterator[Finding]:
    """Each token opens what it is for, and nothing is open without one; and how far the API's clock is away."""
    if not running:
        yield Finding("tokens at the API", "unknown", "no hub runs", "run `argus up`")
        return
    status, _, date = call(settings, None, "GET", "/search?q=canary")
    if status == 0:
        told_ = f"nothing answers at {settings.api_url}, where hooks look for it"
        yield Finding("tokens at the API", "failed", told_, "set ARGUS_API_URL right", away=True)
        return
    wrong = [] if status == 401 else [f"without a token it {told(status)} instead of 401"]
    for name in ("capture", "mcp", "admin"):
        token = getattr(settings, f"{name}_token")
        status, _, _ = call(settings, token, "GET", f"/search?q=canary&project={CANARY_PROJECT}&limit=1")
        if status != 200:
            wrong.append(f"with ARGUS_{name.upper()}_TOKEN it {told(status)}")
    cure = "restart the hub after a change of tokens, then `argus hooks install` on each machine"
    found = "; ".join(wrong) or f"all three work at {settings.api_url}"
    yield Finding("tokens at the API", "failed" if wrong else "ok", found, cure)
    if date:  # whole seconds
        yield judge_skew((datetime.now(UTC) - parsedate_to_datetime(date)).total_seconds(), "the API")


def told(status: int) -> str:
    return f"answers HTTP {status}" if status else "does not answer"


def check_round_trip(settings: Settings, running: bool) -> Iterator[Finding]:
    """A turn marked as a canary goes in by /capture and is found by /search: the way every turn takes."""
    if not running:
        yield Finding("capture → search", "unknown", "no hub runs", "run `argus up`")
        return
    token = settings.capture_token
    if token is None:
        yield Finding("capture → search", "failed", "ARGUS_CAPTURE_TOKEN is missing", "`argus up` makes it")
        return
    word = canary_word(datetime.now(UTC))
    status, receipt, _ = call(settings, token, "POST", "/capture", canary(word))
    if status not in (200, 201) or receipt.get("id") is None:
        yield Finding("capture → search", "failed", f"/capture {told(status)}: {brief(receipt)}", away=not status)
        return
    path = f"/search?q={quote(word)}&project={CANARY_PROJECT}&type=turn&limit=5"
    status, answer, _ = call(settings, token, "GET", path)
    found = [hit.get("raw_id") for hit in answer.get("results", [])]
    if status == 200 and receipt["id"] in found:
        again = " (of today, stored before)" if receipt.get("duplicate") else ""
        yield Finding("capture → search", "ok", f"raw item {receipt['id']}{again} found again")
    else:
        yield Finding("capture → search", "failed", f"raw item {receipt['id']} not found ({told(status)}, {found})")


def canary_word(now: datetime) -> str:
    """One word a day: raw items are never deleted, so a doctor that runs each minute must not add one each time."""
    return f"canary{now:%Y%m%d}"


def canary(word: str) -> dict[str, Any]:
    return {
        "source": CANARY_SOURCE,
        "kind": "turn",
        "body": f"{word} sent by argus doctor to see whether a captured turn is found again",
        "session": CANARY_SESSION,
        "project": CANARY_PROJECT,
        "metadata": {"role": "user"},
    }


def call(
    settings: Settings, token: str | None, method: str, path: str, body: dict[str, Any] | None = None
) -> tuple[int, dict[str, Any], str | None]:
    """One request at ARGUS_API_URL, where the hooks find the hub; status, JSON ({} where it is none), `Date` header.

    Status 0: nothing answers there.
    """
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    request = urllib.request.Request(  # noqa: S310  the operator's own address
        settings.api_url + path, None if body is None else json.dumps(body).encode(), headers, method=method
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=SECONDS) as response:
            status, text, date = response.status, response.read(), response.headers.get("Date")
    except urllib.error.HTTPError as error:
        status, text, date = error.code, error.read(), error.headers.get("Date")
    except OSError:
        return 0, {}, None
    try:
        answer = json.loads(text)
    except ValueError:
        return status, {}, date
    return status, answer if isinstance(answer, dict) else {}, date


def brief(answer: dict[str, Any]) -> str:
    error = answer.get("error")
    return str(error.get("message", error)) if isinstance(error, dict) else json.dumps(answer)[:200]
