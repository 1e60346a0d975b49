"""The channel `ntfy`: text POSTed to the topic ARGUS_NTFY_URL, with title, priority, tags and link as headers."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Final

from argus_memory.rules.send_answers import Answer
from argus_memory.watch.channels import Target
from argus_memory.watch.http_door import HttpDoor
from argus_memory.watch.message_text import Message, Part, ntfy_parts, with_notes

# ntfy's priorities: 1 min … 3 default … 5 max.
PRIORITIES: Final = {"alert": "5", "reminder": "4", "recovery": "3", "digest": "2"}
WARNING_PRIORITY: Final = "4"
TAGS: Final = {
    "alert": "rotating_light", "reminder": "hourglass", "recovery": "white_check_mark", "digest": "clipboard",
}  # fmt: skip
WARNING_TAG: Final = "warning"


class NtfyDoor(HttpDoor):
    def parts(self, message: Message) -> list[Part]:
        return ntfy_parts(message)

    def send(self, message: Message, part: Part, target: Target, *, plain: bool, notes: Sequence[str]) -> Answer:
        assert self._settings.ntfy_url is not None
        text = with_notes(part, notes).text
        return self.post(self._settings.ntfy_url, text.encode("utf-8", "replace"), self._headers(message, part))

    def _headers(self, message: Message, part: Part) -> dict[str, str]:
        warns = message.kind == "alert" and message.severity == "warn"
        title = part.title + (f" ({part.number} of {part.total})" if part.total > 1 else "")
        headers = {
            "Title": encode_header(title),
            "Priority": WARNING_PRIORITY if warns else PRIORITIES.get(message.kind, "3"),
        }
        if tag := WARNING_TAG if warns else TAGS.get(message.kind):
            headers["Tags"] = tag
        if part.link and part.link.isascii() and part.link.isprintable():
            headers["Click"] = part.link
        if self._settings.ntfy_token:
            headers["Authorization"] = f"Bearer {self._settings.ntfy_token}"
        return headers


def encode_header(text: str) -> str:
    """A title on one line; with other than ASCII characters in RFC 2047's form, which ntfy reads."""
    line = " ".join(text.split())
    if line.isascii() and line.isprintable():
        return line
    return f"=?UTF-8?B?{base64.b64encode(line.encode('utf-8', 'replace')).decode()}?="
