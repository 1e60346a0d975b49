"""The channel `webhook`: one JSON object a message, POSTed to ARGUS_WEBHOOK_URL.

`Idempotency-Key` is the message's key: the same for every try, so that a receiver may drop what it has already.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from argus_memory.rules.send_answers import Answer
from argus_memory.watch.channels import Target
from argus_memory.watch.http_door import HttpDoor
from argus_memory.watch.message_text import Message, Part, whole_part


class WebhookDoor(HttpDoor):
    def parts(self, message: Message) -> list[Part]:
        return whole_part(message)

    def send(self, message: Message, part: Part, target: Target, *, plain: bool, notes: Sequence[str]) -> Answer:
        body = {
            "id": message.id,
            "key": message.key,
            "kind": message.kind,
            "severity": message.severity,
            "channel": message.channel,
            "title": message.title,
            "text": message.body,
            "link": message.link,
            "task": message.task,
            "rid": message.rid,
            "alert_id": message.alert_id,
            "created_at": message.created_at.isoformat(),
            "notes": list(notes),
        }
        assert self._settings.webhook_url is not None
        headers = {"Content-Type": "application/json", "Idempotency-Key": header_text(message.key)}
        return self.post(self._settings.webhook_url, json.dumps(body).encode(), headers)


def header_text(text: str) -> str:
    """`text` as a header can carry it: other characters are escaped, which keeps different keys different."""
    return text.encode("unicode_escape").decode("ascii")
