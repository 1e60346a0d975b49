"""Service levels: what a person may expect of the memory, measured every hour over the last day, with its history.

A level is `at least` (capture-rate) or `at most` its threshold; ARGUS_SLO=capture-rate=0.95,recall-ms-p95=400 sets
another. Too little to measure, or no source to measure from, is unknown: it is shown as that and breaks nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import SettingError
from argus_memory.records import CANARY_SESSION
from argus_memory.settings import Settings
from argus_memory.watch.alerts import Condition, clear_alert, raise_alert

Status = Literal["ok", "failed", "unknown"]

WINDOW = timedelta(hours=24)
PROMPT_PATIENCE = timedelta(hours=1)  # until a prompt without any turn of its session counts as not captured
DRIFT_SPAN = timedelta(days=7)  # a night's share of the days alone is too little to judge
LEAST = 20  # turns, units, candidates or recalls; below it one bad one would break a level
KIND = "slo"


@dataclass(frozen=True, slots=True)
class Measured:
    """value None: nothing to measure, and `detail` says why."""

    value: float | None
    detail: str


@dataclass(frozen=True, slots=True)
class Slo:
    """A level. better `more`: the threshold is the least, `less`: the most."""

    name: str
    meaning: str
    better: Literal["more", "less"]
    default: Callable[[Settings], float]
    measure: Callable[[Database, dict[str, Any]], Measured]


@dataclass(frozen=True, slots=True)
class SloResult:
    slo: Slo
    measured: Measured
    threshold: float
    status: Status

    @property
    def sentence(self) -> str:
        bound = "at least" if self.slo.better == "more" else "at most"
        value = "unknown" if self.measured.value is None else f"{self.measured.value:.4g}"
        return f"{self.slo.name} is {value}, {bound} {self.threshold:.4g} was promised ({self.slo.meaning})"


def _capture_rate(db: Database, params: dict[str, Any]) -> Measured:
    q = queries("slo")
    got, lost = db.fetch_one(q.captured, params), db.fetch_one(q.missed, params)
    assert got is not None
    assert lost is not None
    captured, missed = got["turns"], lost["told"] + lost["swept"] + lost["unheard"]
    seen = captured + missed
    detail = (
        f"{captured} of {seen} turns captured; {lost['told']} missed by the hooks' own word, {lost['swept']} found by"
        f" sweeps, {lost['unheard']} prompts of sessions of which nothing arrived"
    )
    return _share(captured, seen, detail)


def _minutes(column: str) -> Callable[[Database, dict[str, Any]], Measured]:
    def measure(db: Database, params: dict[str, Any]) -> Measured:
        row = db.fetch_one(queries("slo").minutes_to_note, params)
        assert row is not None
        detail = f"{row['units']} units distilled"
        return Measured(None, _too_few(detail)) if row["units"] < LEAST else Measured(float(row[column]), detail)

    return measure


def _grounding(db: Database, params: dict[str, Any]) -> Measured:
    row = db.fetch_one(queries("slo").grounding, params)
    assert row is not None
    detail = f"{row['ungrounded']} of {row['candidates']} candidates not grounded"
    return _share(row["ungrounded"], row["candidates"], detail)


def _zero_hits(db: Database, params: dict[str, Any]) -> Measured:
    row = db.fetch_one(queries("slo").recalls, params)
    assert row is not None
    return _share(row["empty"], row["looked_up"], f"{row['empty']} of {row['looked_up']} prompts got nothing")


def _recall_ms(db: Database, params: dict[str, Any]) -> Measured:
    row = db.fetch_one(queries("slo").recalls, params)
    assert row is not None
    detail = f"{row['looked_up']} prompts looked up"
    few = row["looked_up"] < LEAST or row["p95"] is None
    return Measured(None, _too_few(detail)) if few else Measured(float(row["p95"]), detail)


def _drift(db: Database, params: dict[str, Any]) -> Measured:
    row = db.fetch_one(queries("slo").drift, {**params, "span": DRIFT_SPAN})
    assert row is not None
    detail = f"{row['lost']} of {row['notes']} notes not made again, on {row['days']} days reconciled in a week"
    return _share(row["lost"], row["notes"], detail)


def _injected_used(db: Database, params: dict[str, Any]) -> Measured:
    row = db.fetch_one(queries("slo").uses, params)
    assert row is not None
    return _share(row["used"], row["judged"], f"{row['used']} of {row['judged']} notes shown were used by the answer")


def _share(part: int, of: int, detail: str) -> Measured:
    return Measured(None, _too_few(detail)) if of < LEAST else Measured(part / of, detail)


def _too_few(detail: str) -> str:
    return f"{detail}: fewer than {LEAST} in a day are not judged"


def _idle_minutes(settings: Settings) -> float:
    return settings.idle_close.total_seconds() / 60


SLOS: tuple[Slo, ...] = (
    Slo("capture-rate", "share of the turns seen that were captured", "more", lambda _s: 0.98, _capture_rate),
    Slo("note-minutes-median", "minutes from a conversation's last turn to its notes, half of them faster", "less",
        lambda s: _idle_minutes(s) + 30, _minutes("median")),
    Slo("note-minutes-p95", "minutes from a conversation's last turn to its notes, 19 of 20 faster", "less",
        lambda s: _idle_minutes(s) + 120, _minutes("p95")),
    Slo("grounding-rejections", "share of candidates refused because their quotation is not in the source", "less",
        lambda _s: 0.20, _grounding),
    Slo("reconcile-drift", "share of notes that a regeneration from raw would not make again", "less",
        lambda _s: 0.05, _drift),
    Slo("injected-used", "share of injected notes that the answer then used", "more",
        lambda _s: 0.10, _injected_used),
    Slo("zero-hits", "share of the prompts looked up for which nothing was found", "less",
        lambda _s: 0.90, _zero_hits),
    Slo("recall-ms-p95", "milliseconds of a prompt recall, 19 of 20 faster", "less", lambda _s: 1000.0, _recall_ms),
)  # fmt: skip


def thresholds_of(settings: Settings) -> Mapping[str, float]:
    """Each level's threshold, ARGUS_SLO over the defaults; raises SettingError for a name that is no level's."""
    names = [slo.name for slo in SLOS]
    for name in settings.slo:
        if name not in names:
            raise SettingError("ARGUS_SLO", f"{name!r} is no service level", f"one of {', '.join(names)}")
    return {slo.name: settings.slo.get(slo.name, slo.default(settings)) for slo in SLOS}


def judge_level(slo: Slo, measured: Measured, threshold: float) -> Status:
    if measured.value is None:
        return "unknown"
    holds = measured.value >= threshold if slo.better == "more" else measured.value <= threshold
    return "ok" if holds else "failed"


def measure_slos(db: Database, settings: Settings, *, now: datetime, by: str) -> list[SloResult]:
    """Measure every level, keep the measurements, open an alert for each that breaks and close it when it holds.

    Raises SettingError where ARGUS_SLO names no level, Unreachable without a database.
    """
    thresholds = thresholds_of(settings)
    params = {"now": now, "window": WINDOW, "patience": PROMPT_PATIENCE, "canary": f"{CANARY_SESSION}%"}
    results = []
    for slo in SLOS:
        measured, threshold = slo.measure(db, params), thresholds[slo.name]
        results.append(SloResult(slo, measured, threshold, judge_level(slo, measured, threshold)))
    for result in results:
        with db.transaction() as conn:
            _record(conn, result, now)
            _tell(conn, settings, result, now=now, by=by)
    return results


def slo_history(db: Database, *, since: datetime) -> dict[str, list[dict[str, Any]]]:
    """The measurements after a moment by level, oldest first: at, value, threshold, status, detail."""
    found: dict[str, list[dict[str, Any]]] = {slo.name: [] for slo in SLOS}
    for row in db.fetch_all(queries("slo").history, {"since": since}):
        found.setdefault(row.pop("slo"), []).append(row)
    return found


def _record(conn: Connection, result: SloResult, now: datetime) -> None:
    conn.execute(
        queries("slo").insert_measurement,
        {
            "slo": result.slo.name,
            "now": now,
            "value": result.measured.value,
            "threshold": result.threshold,
            "status": result.status,
            "detail": result.measured.detail,
        },
    )


def _tell(conn: Connection, settings: Settings, result: SloResult, *, now: datetime, by: str) -> None:
    subject = f"slo:{result.slo.name}"
    if result.status == "ok":
        clear_alert(conn, settings, KIND, subject, now=now, by=by)
    elif result.status == "failed":
        condition = Condition(
            kind=KIND,
            subject=subject,
            title=f"A service level does not hold: {result.sentence}",
            detail=result.measured.detail,
            severity="warn",
            evidence={"value": result.measured.value, "threshold": result.threshold},
        )
        raise_alert(conn, settings, condition, now=now, by=by)
