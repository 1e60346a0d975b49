"""The door to Telegram's Bot API: one request a call, its answer judged. It sends; polling is another's.

python-telegram-bot is imported where a message is sent, in the sender's own event loop: a poller elsewhere, with an
event loop of its own, is not in the way (Telegram allows one poller a token, and any number of senders).
"""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from argus_memory.rules.send_answers import Answer, judge_break, judge_telegram
from argus_memory.settings import Settings
from argus_memory.watch.channels import Target
from argus_memory.watch.http_client import quiet_http_logs, tls_context
from argus_memory.watch.message_text import Message, Part, as_html, as_plain, hide_secrets, telegram_parts

if TYPE_CHECKING:
    from telegram import Message as TelegramMessage
    from telegram import User

DEFAULT_API = "https://api.telegram.org"
CONNECT_SECONDS, READ_SECONDS, WRITE_SECONDS, FILE_SECONDS = 5.0, 15.0, 10.0, 40.0
FILE_NAME = "message.txt"
WAIT_UNTOLD = 5.0  # seconds, where Telegram does not say how long to keep quiet


def api_url(settings: Settings) -> str:
    """What python-telegram-bot puts the token behind; ARGUS_TELEGRAM_BASE_URL with or without its `/bot`."""
    base = (settings.telegram_base_url or DEFAULT_API).rstrip("/")
    return base if base.endswith("/bot") or "{token}" in base else f"{base}/bot"


class TelegramDoor:
    """Open for one pass of the sender: `close` ends its connections and its event loop."""

    def __init__(self, settings: Settings, *, read_seconds: float = READ_SECONDS) -> None:
        quiet_http_logs()
        from telegram import Bot, LinkPreviewOptions
        from telegram.request import HTTPXRequest
        from telegram.warnings import PTBDeprecationWarning

        # It is about `retry_after` of its exception, which is read from the answer here.
        warnings.filterwarnings("ignore", category=PTBDeprecationWarning)

        last: dict[str, Any] = {}

        class NotingRequest(HTTPXRequest):
            """Keeps status and body: the library's exceptions hold neither."""

            async def do_request(self, *args: Any, **kwargs: Any) -> tuple[int, bytes]:
                last.clear()
                status, body = await super().do_request(*args, **kwargs)
                last.update(status=status, body=body)
                return status, body

        self._settings = settings
        self._last = last
        self._runner = asyncio.Runner()
        self._request = NotingRequest(
            connection_pool_size=1,
            connect_timeout=CONNECT_SECONDS,
            read_timeout=read_seconds,
            write_timeout=WRITE_SECONDS,
            pool_timeout=CONNECT_SECONDS,
            media_write_timeout=FILE_SECONDS,
            httpx_kwargs={"verify": tls_context()},
        )
        assert settings.telegram_token is not None
        self._bot = Bot(
            settings.telegram_token,
            base_url=api_url(settings),
            request=self._request,
            get_updates_request=self._request,
        )
        self._no_preview = LinkPreviewOptions(is_disabled=True)

    def close(self) -> None:
        self._runner.run(self._request.shutdown())
        self._runner.close()

    def parts(self, message: Message) -> list[Part]:
        return telegram_parts(message)

    def probe(self) -> Answer:
        """Ask who we are: shows whether Telegram answers without a message being sent once more."""
        return self._call(self._bot.get_me())

    def send(self, message: Message, part: Part, target: Target, *, plain: bool, notes: Sequence[str]) -> Answer:
        text = as_plain(part, notes) if plain else as_html(part, notes)
        mode = None if plain else "HTML"
        common: dict[str, Any] = {"chat_id": target.chat, "message_thread_id": target.thread, "parse_mode": mode}
        if part.form == "file":
            data = part.text.encode("utf-8", "replace")
            return self._call(self._bot.send_document(document=data, filename=FILE_NAME, caption=text, **common))
        return self._call(self._bot.send_message(text=text, link_preview_options=self._no_preview, **common))

    def _call(self, request: Coroutine[Any, Any, TelegramMessage | User]) -> Answer:
        from telegram.error import TelegramError

        try:
            answer = self._runner.run(request)
        except TelegramError as error:
            return self._judge(error)
        return Answer("sent", 200, message_id=getattr(answer, "message_id", None))

    def _judge(self, error: Exception) -> Answer:
        if "status" not in self._last:
            cause = error.__cause__ or error
            name = type(cause).__name__
            return Answer(judge_break(name), None, self._hide(f"{name}: {cause}" if str(cause) else name))
        status = int(self._last["status"])
        description, parameters = _read(self._last["body"])
        kind = judge_telegram(status, description)
        wait = parameters.get("retry_after", WAIT_UNTOLD) if kind == "slow-down" else None
        moved = parameters.get("migrate_to_chat_id")
        if moved and status == 400:
            return Answer("moved", status, self._hide(description), moved_to=str(moved))
        return Answer(kind, status, self._hide(f"{status} {description}".strip()), wait=wait)

    def _hide(self, text: str) -> str:
        return hide_secrets(text, self._settings)


def _read(body: bytes) -> tuple[str, dict[str, Any]]:
    """(description, parameters) of an answer; an answer that is not the Bot API's has neither."""
    try:
        data = json.loads(body)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        return "an answer that is not the Bot API's", {}
    parameters = data.get("parameters")
    return str(data.get("description", "")), parameters if isinstance(parameters, dict) else {}
