"""What a check of `argus doctor` finds, and how the findings are judged and shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

MARKS = {"ok": "ok", "warn": "WARN", "failed": "FAILED", "unknown": "?"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One answer. `status`: ok, warn, failed, unknown (could not be asked); `cure` says what to do about it.

    warn is a hint: it works as it is. `away`: failed because something cannot be reached.
    """

    name: str
    status: str
    detail: str
    cure: str = ""
    away: bool = False


Check = Callable[[], Iterable[Finding]]


def collect(checks: Sequence[tuple[str, Check]]) -> list[Finding]:
    """Run every check; one that breaks becomes a finding of its own, so that the others are still told."""
    findings: list[Finding] = []
    for name, check in checks:
        try:
            findings.extend(check())
        except Exception as error:  # noqa: BLE001  # told as a finding, with its name
            reason = (str(error).strip().splitlines() or [""])[0]
            findings.append(Finding(name, "unknown", f"could not be asked ({type(error).__name__}: {reason})"))
    return findings


def exit_code(findings: Iterable[Finding]) -> int:
    """3 when something needed cannot be reached, 1 with any other failure, 0 when all is well or only hints.

    A hint is no finding: a fresh installation on an ordinary machine has some, and a script that asks whether Argus
    works must not fail on them. `unknown` alone is none either: most of it is a hub that does not run right now.
    """
    failed = [finding for finding in findings if finding.status == "failed"]
    return 3 if any(finding.away for finding in failed) else 1 if failed else 0


def count_words(findings: Sequence[Finding]) -> str:
    """The last line for people: `all well`, or how many of each there is to look at."""
    words = (("failed", "to mend"), ("warn", "hints"), ("unknown", "could not be told"))
    counts = [(sum(finding.status == status for finding in findings), text) for status, text in words]
    told = [f"{count} {text if count != 1 else text.removesuffix('s')}" for count, text in counts if count]
    return ", ".join(told) if any(count for count, _ in counts[:2]) else ", ".join(["all well", *told])


def as_text(finding: Finding) -> str:
    line = f"{finding.name:<16} {MARKS[finding.status]:<7} {finding.detail}"
    return line + (f"\n{'':<16}         → {finding.cure}" if finding.cure and finding.status != "ok" else "")


def as_json(findings: Sequence[Finding]) -> dict[str, Any]:
    code = exit_code(findings)
    return {
        "status": "ok" if code == 0 else "failed",
        "failed": sum(finding.status == "failed" for finding in findings),
        "hints": sum(finding.status == "warn" for finding in findings),
        "findings": [
            {"name": f.name, "status": f.status, "detail": f.detail, "cure": f.cure or None} for f in findings
        ],
    }
