"""From how a process ended to what the run came to, with a reason for a person. Pure."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from argus_memory.records import Outcome
from argus_memory.watch.alerts import describe_span

SHELL_WORDS = {
    126: "the command may not be executed (exit code 126)",
    127: "the command was not found (exit code 127)",
}
STOPPED = {
    "stopped": "it was stopped",
    "terminated": "its guard was asked to end (SIGTERM), as at a shutdown",
    "runner-gone": "the runner was gone, so the guard ended it",
}


def judge_end(
    report: Mapping[str, Any], *, skip: str | None = None, max_runtime: timedelta | None = None
) -> tuple[Outcome, str | None]:
    """(outcome, reason) from the guard's report; `skip` is what the task said when it found nothing to do."""
    outcome, reason = _judge(report, skip, max_runtime)
    notes = [reason] if reason else []
    strays = report.get("strays") or 0
    if strays:
        notes.append(f"{_count(strays)} it left behind {'was' if strays == 1 else 'were'} ended")
    if report.get("left_alive"):
        notes.append(f"{_count(report['left_alive'])} could not be ended, not even by SIGKILL")
    return outcome, "; ".join(notes) or None


def _judge(report: Mapping[str, Any], skip: str | None, max_runtime: timedelta | None) -> tuple[Outcome, str | None]:
    if report.get("start_error"):
        return "failed", str(report["start_error"])
    ended_by = report.get("ended_by")
    killed = ", it ignored SIGTERM and was killed" if report.get("killed") else ""
    if ended_by == "max-runtime":
        limit = f" of {describe_span(max_runtime)}" if max_runtime is not None else ""
        return "timed-out", f"it ran longer than its max_runtime{limit}{killed}"
    if ended_by == "runner-gone":
        return "orphaned", STOPPED[ended_by] + killed
    if ended_by in STOPPED:
        return "failed", STOPPED[ended_by] + killed
    if report.get("guard_lost"):
        return "failed", "its guard process was ended from outside, and the task with it"
    if report.get("signal") is not None:
        return "failed", _signal_reason(report)
    if report.get("filed"):
        return "failed", "its report was filed by another process: see the row"
    exit_code = report.get("exit_code")
    if exit_code is None:
        return "failed", "how it ended is not known"
    if exit_code == 0:
        return ("skipped", skip) if skip else ("ok", None)
    return "failed", _exit_reason(exit_code, report)


def _signal_reason(report: Mapping[str, Any]) -> str:
    number = report["signal"]
    text = f"it was ended by {name_signal(number)}"
    if number == signal.SIGKILL:
        text += ", by " + ("the out-of-memory killer" if report.get("oom_kills") else "somebody outside Argus")
    return text


def _exit_reason(exit_code: int, report: Mapping[str, Any]) -> str:
    if exit_code in SHELL_WORDS:
        return SHELL_WORDS[exit_code]
    text = f"exit code {exit_code}"
    if 128 < exit_code <= 128 + 64:
        text += f", which a shell gives for {name_signal(exit_code - 128)}"
        if exit_code == 128 + signal.SIGKILL and report.get("oom_kills"):
            text += "; the out-of-memory killer was at work"
    return text


def name_signal(number: int) -> str:
    """`signal 9 (SIGKILL)`."""
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"


def _count(processes: int) -> str:
    return f"{processes} process{'' if processes == 1 else 'es'}"
