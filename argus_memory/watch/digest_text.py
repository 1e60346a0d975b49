"""The daily digest in words: a line for each thing, and a line that says so where there is nothing. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any, Final

from argus_memory.watch.alerts import describe_span

SHOWN_MAX: Final = 10  # lines of one kind; the rest is counted
REASON_MAX: Final = 120

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DigestFacts:
    """What the queries of sql/digest.sql found for the span that ends at `now`; times are shown in `zone`."""

    now: datetime
    zone: tzinfo
    ran: Sequence[Row]
    missed: Sequence[Row]
    held: Row
    parked: Row
    alerts: Sequence[Row]
    outbox: str
    costs: Row
    canaries: Row
    levels: Sequence[Row]


def digest_title(facts: DigestFacts) -> str:
    """`Argus, Monday 4 May: 26 runs ok, 1 failed, 1 missed, 2 alerts open`."""
    counts = [f"{_sum(facts.ran, 'ok')} runs ok"]
    bad = ((_sum(facts.ran, "failed"), "failed"), (_sum(facts.missed, "missed"), "missed"))
    counts += [f"{count} {word}" for count, word in bad if count]
    if facts.alerts:
        counts.append(f"{len(facts.alerts)} {'alert' if len(facts.alerts) == 1 else 'alerts'} open")
    day = facts.now.astimezone(facts.zone)
    return f"Argus, {day:%A} {day.day} {day:%B}: {', '.join(counts)}"


def digest_body(facts: DigestFacts) -> str:
    """Eight sections in a fixed order."""
    sections = (
        _ran(facts), _missed(facts), _held(facts), _parked(facts), _alerts(facts), [f"Messages: {facts.outbox}."],
        _costs(facts), _canaries(facts), _levels(facts),
    )  # fmt: skip
    return "\n".join(line for section in sections for line in section)


def _ran(facts: DigestFacts) -> list[str]:
    if not facts.ran:
        return ["Ran: no task in the last day."]
    ok, skipped = _sum(facts.ran, "ok"), _sum(facts.ran, "skipped")
    parts = [f"{ok} ok"]
    parts += [f"{skipped} skipped"] if skipped else []
    parts += [f"{running} still running"] if (running := _sum(facts.ran, "running")) else []
    well = [f"{row['task']} {row['ok']}" for row in facts.ran if row["ok"]]
    names = f" ({', '.join(_some(well))})" if well else ""
    failed = [
        f"Failed: {row['task']}, {row['failed']} of {row['failed'] + row['ok']}: {_short(row['reason'])}"
        for row in facts.ran
        if row["failed"]
    ]
    return [f"Ran: {', '.join(parts)}{names}.", *(_some(failed) or ["Failed: nothing."])]


def _missed(facts: DigestFacts) -> list[str]:
    lines = [
        f"Did not run: {row['task']}, {row['missed']} times, last due {_at(row['last_due_at'], facts)}"
        f"{': ' + _short(row['reason']) if row['reason'] else ''}"
        for row in facts.missed
    ]
    return _some(lines) or ["Did not run: nothing that was due."]


def _held(facts: DigestFacts) -> list[str]:
    held = facts.held["held"]
    if not held:
        return ["Held for review: nothing."]
    waits = describe_span(facts.now - facts.held["since"])
    return [f"Held for review: {held}, the oldest for {waits} (`argus review list`)."]


def _parked(facts: DigestFacts) -> list[str]:
    units, texts = facts.parked["units"], facts.parked["texts"]
    if not units and not texts:
        return ["Parked: nothing."]
    parts = [f"{units} undistilled after repeated failures"] if units else []
    parts += [f"{texts} texts without a vector"] if texts else []
    return [f"Parked: {', '.join(parts)}."]


def _alerts(facts: DigestFacts) -> list[str]:
    lines = [
        f"Open alert {row['id']}, for {describe_span(facts.now - row['opened_at'])}: {row['title']}"
        for row in facts.alerts
    ]
    return _some(lines) or ["Open alerts: none."]


def _costs(facts: DigestFacts) -> list[str]:
    """What is not known is never counted as nothing."""
    calls, unknown, usd = facts.costs["calls"], facts.costs["unknown"], facts.costs["usd"]
    told = []
    if runs := facts.costs.get("told_runs"):
        word = "run" if runs == 1 else "runs"
        spent = f"{facts.costs['told_usd']:.4f} USD"
        told = [f"Cost told by scripts: {spent} in {runs:,} {word}, calls through Argus included."]
    if not calls:
        return ["Cost: Argus called no model.", *told]
    known = calls - unknown
    parts = [f"{usd:.4f} USD for {known:,} calls"] if known else []
    parts += [f"unknown for {unknown:,} calls"] if unknown else []
    return [f"Cost: {', '.join(parts)}.", *told]


def _canaries(facts: DigestFacts) -> list[str]:
    ok, failed, last = facts.canaries["ok"], facts.canaries["failed"], facts.canaries["last"]
    if last is None:
        return ["Canary: none was sent yet."]
    where = f" at {facts.canaries['step']}" if last == "failed" and facts.canaries["step"] else ""
    return [f"Canary: {ok} arrived, {failed} did not; the last one: {last}{where}."]


def _levels(facts: DigestFacts) -> list[str]:
    broken = [row for row in facts.levels if row["status"] == "failed"]
    unknown = sum(row["status"] == "unknown" for row in facts.levels)
    if not facts.levels:
        return ["Service levels: none was measured yet."]
    if not broken:
        told = f", {unknown} without anything to measure" if unknown else ""
        return [f"Service levels: {len(facts.levels) - unknown} kept{told}."]
    return [
        f"Service level broken: {row['slo']} is {row['value']:.3g}, {row['threshold']:.3g} is asked" for row in broken
    ]


def _sum(rows: Sequence[Row], name: str) -> int:
    return sum(row[name] for row in rows)


def _some(lines: list[str]) -> list[str]:
    more = len(lines) - SHOWN_MAX
    return [*lines[:SHOWN_MAX], f"… and {more} more"] if more > 0 else lines


def _short(text: str | None) -> str:
    line = " ".join((text or "no reason is on record").split())
    return line if len(line) <= REASON_MAX else line[: REASON_MAX - 1] + "…"


def _at(at: datetime, facts: DigestFacts) -> str:
    return f"{at.astimezone(facts.zone):%a %H:%M}"
