"""What a check of `argus doctor` finds, and how the findings are judged and shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

MARKS = {"ok": "ok", "warn": "WARN", "failed": "FAILED", "unknown": "?"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One answer. `status`: ok, warn, failed, unknown (could not be asked); `cure` says what to do about it."""

    name: str
    status: str
    detail: str
    cure: str = ""


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
    """3 with a failure, 1 with anything else to look at, 0 when all is well.

    `unknown` alone is no reason to alarm: most of it is a hub that does not run at this moment.
    """
    statuses = {finding.status for finding in findings}
    return 3 if "failed" in statuses else 1 if "warn" in statuses else 0


def as_text(finding: Finding) -> str:
    line = f"{finding.name:<16} {MARKS[finding.status]:<7} {finding.detail}"
    return line + (f"\n{'':<16}         → {finding.cure}" if finding.cure and finding.status != "ok" else "")


def as_json(findings: Sequence[Finding]) -> dict[str, Any]:
    code = exit_code(findings)
    return {
        "status": {0: "ok", 1: "warn", 3: "failed"}[code],
        "findings": [
            {"name": f.name, "status": f.status, "detail": f.detail, "cure": f.cure or None} for f in findings
        ],
    }
