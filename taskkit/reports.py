"""Messages of a run: JSON lines appended to the file ARGUS_TASK_MESSAGES, which the runner reads as it grows."""

import json
import math
import os
import sys
from typing import Any, Dict, Optional

from taskkit import pipes

LINE_MAX = 256 * 1024  # bytes of one message; the runner passes over longer ones
FILE = "ARGUS_TASK_MESSAGES"


def in_run() -> bool:
    """Whether this process is part of a run that Argus started."""
    return bool(os.environ.get(FILE))


def report(output: Any = None, summary: Optional[str] = None) -> None:
    """What the run came to: any JSON value, and a sentence for people. The last call of a run stands."""
    _send({"type": "report", "output": output, "summary": summary})


def metric(name: str, value: float) -> None:
    """A number worth following from run to run. Raises ValueError for what is none."""
    number = float(value)
    if not math.isfinite(number):
        raise ValueError("metric %s: %r is not a finite number" % (name, value))
    _send({"type": "metric", "name": name, "value": number})


def cost(usd: Optional[float], engine: Optional[str] = None) -> None:
    """US dollars this run has spent, added up over calls; None where it is not known, never 0 for unknown."""
    if usd is not None and not (math.isfinite(usd) and usd >= 0):
        raise ValueError("cost: %r is not an amount" % (usd,))
    _send({"type": "cost", "usd": usd, "engine": engine})


def deliver(
    title: str,
    text: str = "",
    channel: Optional[str] = None,
    link: Optional[str] = None,
    key: Optional[str] = None,
) -> None:
    """A message to a person, through the outbox: nothing is lost when the messenger is away.

    channel: the stanza's unless given; key: the same key of a task is sent once for ever, also from another run.
    """
    message = {"type": "deliver", "title": title, "text": text, "channel": channel, "link": link, "key": key}
    _send({name: value for name, value in message.items() if value is not None})


def skip(reason: str) -> None:
    """There was nothing to do: the run counts as skipped where it ends with 0. The caller ends by itself."""
    _send({"type": "skip", "reason": reason})


def _send(message: Dict[str, Any]) -> None:
    """Raises ValueError for what is no JSON or too long, OSError where the file cannot be written."""
    line = json.dumps(message, default=str, allow_nan=False).encode() + b"\n"
    if len(line) > LINE_MAX:
        raise ValueError(
            "%s: %d KiB of JSON, at most %d are taken; write it to a file and report its place"
            % (message["type"], len(line) // 1024, LINE_MAX // 1024)
        )
    path = os.environ.get(FILE)
    if not path:
        show(message)
        return
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(fd, line)  # one write, so that lines of several processes do not mix
    finally:
        os.close(fd)
    pipes.forward(message)


def show(message: Dict[str, Any]) -> None:
    """Outside a run: what would have been reported, on standard error."""
    said = {name: value for name, value in message.items() if name != "type" and value is not None}
    text = json.dumps(said, default=str, ensure_ascii=False)
    sys.stderr.write("taskkit: not in a run of Argus; would have sent %s %s\n" % (message["type"], text))
