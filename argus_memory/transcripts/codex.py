"""Codex rollouts, all eras: lines to visible turns. Pure; Python 3.8; carried by the hook.

Codex writes most texts twice, as an event and as a response item, and which of the two a file holds differs
by era and by role. A file is read while it grows, so the choice cannot wait for its end:

* user: events win, because items also carry injected context. An item is held until an event comes (then it
  was a copy), or the model starts to answer without one (then this file has no user events, and its items
  count).
* assistant: whichever comes first is kept; the other is its copy when the text is the same, or when it
  follows at once within the same second (in redacted files the two texts differ).

Decided here: turns that were aborted or rolled back count as said. A subagent's file is skipped whole, and
so is the parent's history at the head of a fork: those turns stand in the parent's file.
"""

from __future__ import annotations

from argus_memory.transcripts.codex_text import (
    CODEX_EVENTS,
    CODEX_ITEMS,
    CODEX_TYPES,
    REVIEW_MODEL,
    codex_header,
    codex_whole_file,
    folder_of_context,
    kind_of_bare,
    later_stamp,
    stamp_ms,
    texts_of_item,
    typed_in_codex,
    words_of_event,
)
from argus_memory.transcripts.common import (
    BOOKKEEPING,
    COPY,
    DEVELOPER,
    EMPTY,
    FORK,
    INJECTED,
    INTERNAL,
    MALFORMED,
    NOT_A_RECORD,
    PATH_MAX,
    STAMP_MAX,
    THINKING,
    TOOL,
    UNDECIDED,
    UNKNOWN_TYPE,
    LineReader,
    Turn,
    clean_text,
    decode_record,
    text_key,
    text_or_none,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# How the writer's lines open behind a timestamp of 24 characters; any other spelling is decoded.
TIMED = b'{"timestamp":"'
SKIM_AT = len(TIMED) + 24 + len(b'",')
SKIMMED = tuple(
    (opening, SKIM_AT + len(opening), {name.encode(): reason for name, reason in reasons.items()})
    for opening, reasons in (
        (b'"type":"response_item","payload":{"type":"', CODEX_ITEMS),
        (b'"type":"event_msg","payload":{"type":"', CODEX_EVENTS),
    )
)
ANSWERED_BY = ("agent_reasoning", "task_complete", "turn_aborted")  # events that follow a prompt
HELD_MAX = 8  # user items held until their source is known
HELD_CHARS_MAX = 256 * 1024
PAIR_MAX = 16  # texts waiting for their copy
FORK_BURST_MS = 1000  # the lines a fork copies are written within a moment; the first pause ends them


class CodexParser(LineReader):
    """See LineReader; `feed_document` reads the whole-file `.json` of the first era."""

    _after: list[Any] | None = None  # what the record before kept, while one is read

    def feed_document(self, data: bytes) -> list[Turn]:
        """Era 1, `{session, items}`, at once; positions are the items' places. Raises ValueError if it is
        none."""
        document = decode_record(data.strip(), self._loads)
        items = document.get("items") if isinstance(document, dict) else None
        if not isinstance(items, list):
            raise ValueError("not a Codex session: it has no list of items")
        out: list[Turn] = []
        header = document.get("session")
        self._read_header(header if isinstance(header, dict) else {}, None)
        for place, item in enumerate(items):
            reason = self._read(item, place, out) if isinstance(item, dict) else NOT_A_RECORD
            if reason:
                self.skip(reason)
        self.offset += len(data)
        self._release(out)
        return out

    def state(self) -> dict[str, Any]:
        known = dict(self._known, meta=dict(self._known["meta"]))
        known["held"] = [dict(fields) for fields in known["held"]]
        known["pairs"] = [list(mark) for mark in known["pairs"]]
        return known

    def _restore(self, state: dict[str, Any]) -> None:
        # One dict of plain values, so that state() is the whole truth. header: a session header was read;
        # whole: reason to skip the file; users: None, "event" or "item"; held: user turns waiting for that;
        # pairs: [role, source, key] of texts waiting for their copy; last: [role, source, second] of the
        # record before, if it was kept; fork: time of the copied line before; turns: how many had no time
        # of their own.
        self._known: dict[str, Any] = {
            "header": False, "whole": None, "session": None, "cwd": None, "time": None, "turns": 0,
            "meta": {}, "model": None, "fork": None, "users": None, "held": [], "pairs": [], "last": None,
        }  # fmt: skip
        self._known.update(state)

    def _skim(self, line: bytes) -> str | None:
        known = self._known
        if known["whole"]:
            return str(known["whole"])
        if known["held"] or known["fork"] or not line.startswith(TIMED):
            return None
        for opening, start, reasons in SKIMMED:
            if line.startswith(opening, SKIM_AT):
                reason = reasons.get(line[start : line.find(b'"', start)])
                if reason:
                    known["last"] = None
                return reason
        return None

    def _read(self, record: dict[str, Any], position: int, out: list[Turn]) -> str | None:
        known = self._known
        self._after, known["last"] = known["last"], None
        kind, payload = record.get("type"), record.get("payload")
        stamp = text_or_none(record.get("timestamp"), STAMP_MAX)
        if not isinstance(payload, dict):  # bare lines of era 2, and writers that flatten the payload
            kind, payload = kind_of_bare(record), record
        if not isinstance(kind, str):
            return UNKNOWN_TYPE
        if kind == "session_meta":
            return self._read_header(payload, stamp)
        if known["fork"]:
            if self._in_fork(stamp):
                return self._read_copied(kind, payload, stamp, position)
            self._release(out, "event")
        if kind == "response_item":
            return self._read_item(payload, stamp, position, out)
        if kind == "event_msg":
            return self._read_event(payload, stamp, position, out)
        if kind == "turn_context":
            known["cwd"] = text_or_none(payload.get("cwd"), PATH_MAX) or known["cwd"]
            known["model"] = text_or_none(payload.get("model"))
        return CODEX_TYPES.get(kind, UNKNOWN_TYPE)

    def _read_header(self, header: dict[str, Any], stamp: str | None) -> str:
        """The first header names the session; a later one belongs to a copied history."""
        known = self._known
        if known["header"]:
            return BOOKKEEPING
        known.update(codex_header(header), header=True, whole=codex_whole_file(header))
        if text_or_none(header.get("forked_from_id")):
            known["fork"] = stamp or known["time"] or "-"
        return known["whole"] or BOOKKEEPING

    def _in_fork(self, stamp: str | None) -> bool:
        """Whether the line is still of the copied history at the head of a fork: stamped before the fork, or
        written in one burst with the line before."""
        here, then = stamp_ms(stamp), stamp_ms(self._known["fork"])
        if here and then and here > then and (here[0] != then[0] or here[1] - then[1] > FORK_BURST_MS):
            self._known["fork"] = None
            return False
        if here and (not then or here > then):
            self._known["fork"] = stamp
        return True

    def _read_copied(self, kind: str, payload: dict[str, Any], stamp: str | None, position: int) -> str | None:
        """A line of the copied history. The fork itself may be written only with its first prompt, in the
        same burst: so a prompt that nothing in the burst answers is held, and kept once the burst is over."""
        role, text, _ = words_of_event(payload) if kind == "event_msg" else ("", "", "")
        answered = role == "assistant" or payload.get("type") in ANSWERED_BY
        if kind == "response_item" and payload.get("role") not in ("user", "developer", "system"):
            answered = True
        prompt = self._turn("user", text, payload, stamp, position) if role == "user" and text else None
        if answered or prompt:
            self._drop_held(FORK)
        if prompt:
            self._known["held"] = [prompt.as_dict()]
        return None if prompt else FORK

    def _read_item(self, item: dict[str, Any], stamp: str | None, position: int, out: list[Turn]) -> str | None:
        kind, role = item.get("type"), item.get("role")
        if kind != "message":
            reason = CODEX_ITEMS.get(kind, UNKNOWN_TYPE) if isinstance(kind, str) else UNKNOWN_TYPE
            if reason in (THINKING, TOOL):
                self._answering(out)
            return reason
        if role in ("developer", "system"):
            return DEVELOPER
        if role not in ("user", "assistant"):
            return MALFORMED
        texts, other = texts_of_item(item.get("content"))
        if not texts:
            return other
        if self._known["model"] == REVIEW_MODEL:
            return INTERNAL
        if role == "assistant":
            return self._assistant_item(item, texts, stamp, position, out)
        return self._user_item(item, texts, stamp, position, out)

    def _user_item(
        self, item: dict[str, Any], texts: list[str], stamp: str | None, position: int, out: list[Turn]
    ) -> str | None:
        known, words = self._known, []
        for text in texts:
            typed, reason = typed_in_codex(text)
            if reason == INJECTED:
                known["cwd"] = known["cwd"] or folder_of_context(text)
                return INJECTED
            if typed:
                words.append(typed)
        if not words:
            return EMPTY
        if known["users"] == "event":
            return COPY
        turn = self._turn("user", "\n\n".join(words), item, stamp, position)
        if known["users"] == "item" or stamp is None:  # era 2 has no times and no events
            self._keep(turn, "item", out, [text_key(turn.text)])
            return None
        known["held"].append(turn.as_dict())
        while len(known["held"]) > HELD_MAX or sum(len(h["text"]) for h in known["held"]) > HELD_CHARS_MAX:
            known["held"].pop(0)
            self.skip(UNDECIDED)
        return None

    def _assistant_item(
        self, item: dict[str, Any], texts: list[str], stamp: str | None, position: int, out: list[Turn]
    ) -> str | None:
        words = [text for text in (clean_text(text) for text in texts) if text]
        if not words:
            return EMPTY
        self._answering(out)
        keys = [text_key(text) for text in words]
        fresh = [place for place, key in enumerate(keys) if not self._paired("assistant", "event", key)]
        if not fresh or (len(fresh) == len(words) and self._follows("assistant", "event", stamp)):
            return COPY
        turn = self._turn("assistant", "\n\n".join(words[place] for place in fresh), item, stamp, position)
        self._keep(turn, "item", out, [keys[place] for place in fresh])
        return None

    def _read_event(self, event: dict[str, Any], stamp: str | None, position: int, out: list[Turn]) -> str | None:
        role, text, reason = words_of_event(event)
        if role == "assistant" or event.get("type") == "task_complete":
            self._answering(out)
        if reason:
            return reason
        known = self._known
        if known["model"] == REVIEW_MODEL:
            return INTERNAL
        keys = [text_key(text)] if role == "assistant" or known["users"] == "item" else []
        if keys and (self._paired(role, "item", keys[0]) or self._follows(role, "item", stamp)):
            return COPY
        if role == "user":
            self._drop_held(COPY)
        self._keep(self._turn(role, text, event, stamp, position), "event", out, keys)
        return None

    def _answering(self, out: list[Turn]) -> None:
        """The model has started: user items still held have no event, so items are this file's prompts."""
        if self._known["users"] is None and self._known["held"]:
            self._release(out)

    def _release(self, out: list[Turn], source: str = "item") -> None:
        held, self._known["held"] = self._known["held"], []
        for fields in held:
            if self._known["fork"]:
                self.skip(FORK)  # the file ends within the copied history
            else:
                self._keep(Turn(**fields), source, out, [text_key(fields["text"])])

    def _drop_held(self, reason: str) -> None:
        for _ in self._known["held"]:
            self.skip(reason)
        self._known["held"] = []

    def _keep(self, turn: Turn, source: str, out: list[Turn], keys: list[str]) -> None:
        """Keep the turn, and remember its texts' keys until their copies come from the other source."""
        known = self._known
        if turn.role == "user":
            known["users"] = source
            known["pairs"] = []  # no copy comes from before the prompt
        if keys:
            known["pairs"] = (known["pairs"] + [[turn.role, source, key] for key in keys])[-PAIR_MAX:]
        known["last"] = [turn.role, source, (turn.timestamp or "")[:19]]
        self.kept += 1
        out.append(turn)

    def _paired(self, role: str, source: str, key: str) -> bool:
        mark = [role, source, key]
        if mark in self._known["pairs"]:
            self._known["pairs"].remove(mark)
            return True
        return False

    def _follows(self, role: str, source: str, stamp: str | None) -> bool:
        """Whether the record before was kept from the other source, in the same second."""
        return stamp is not None and self._after == [role, source, stamp[:19]]

    def _turn(self, role: str, text: str, item: dict[str, Any], stamp: str | None, position: int) -> Turn:
        known = self._known
        meta = dict(known["meta"])
        phase = text_or_none(item.get("phase"))
        if phase:
            meta["phase"] = phase
        if stamp is None and known["time"]:
            known["turns"] += 1
            stamp = later_stamp(known["time"], known["turns"])
            meta["approximate_time"] = True
        return Turn(
            role,
            text,
            position,
            message_id=text_or_none(item.get("id")),
            timestamp=stamp,
            session=known["session"],
            cwd=known["cwd"],
            meta=meta,
        )
