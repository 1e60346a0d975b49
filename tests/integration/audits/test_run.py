"""Every answer is kept, and a person hears of each change once."""

from __future__ import annotations

from datetime import timedelta

import pytest

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.upkeep.housekeeping import MEASURED_KEPT, forget_measured
from argus_memory.watch.audits import AUDITS, Answer, Audit, Finding, run_audits
from argus_memory.watch.audits.questions import Asked
from tests.distill_rows import add_item
from tests.integration.audits.test_whole_faults import change
from tests.memory_rows import at

(PARKED,) = (audit for audit in AUDITS if audit.name == "none_parked")


def run(db: Database, settings: Settings, minute: float, *audits: Audit) -> list[Answer]:
    return list(run_audits(db, settings, now=at(minute), by="test", run_id="run-1", audits=audits or [PARKED]))


def made_up(finding: Finding) -> Audit:
    return Audit("made_up", "raw_items", "Is it so?", "error", lambda _asked: finding, "select 1")


def messages(db: Database) -> list[tuple[str, str]]:
    return [(row["kind"], row["title"]) for row in db.fetch_all("select kind, title from deliveries order by id")]


def test_each_answer_is_kept_and_each_change_told_once(db: Database, settings: Settings) -> None:
    """A fault opens one alert with the offending ids, its page and a query; asked again it is told no more; its end
    is told with its time; every answer is a row."""
    unit = add_item(db, "a document")
    run(db, settings, 0)
    change(db, "update distill_state set status = 'parked', last_error = 'prose'")
    run(db, settings, 60)
    run(db, settings, 120)
    (alert,) = db.fetch_all("select kind, subject, severity, evidence, detail from alerts")
    assert (alert["kind"], alert["subject"], alert["severity"]) == (
        "audit",
        "check:distilled_notes/none_parked",
        "warn",
    )
    assert alert["evidence"] == {"offending": [f"item {unit}"], "total": 1}
    assert 'psql "$(argus dsn)" -c "select' in alert["detail"]
    (delivery,) = db.fetch_all("select link from deliveries")
    assert delivery["link"].endswith("/assets/distilled_notes?view=checks&checkDetail=none_parked")
    change(db, "update distill_state set status = 'done', distilled_at = now()")
    run(db, settings, 180)
    assert [kind for kind, _ in messages(db)] == ["alert", "recovery"]
    rows = db.fetch_all("select status, total, offending, severity, run_id from audit_results order by id")
    assert [row["status"] for row in rows] == ["ok", "failed", "failed", "ok"]
    assert rows[1] == {
        "status": "failed", "total": 1, "offending": [f"item {unit}"], "severity": "warn", "run_id": "run-1",
    }  # fmt: skip


def test_unknown_neither_opens_nor_closes(db: Database, settings: Settings) -> None:
    """An answer that cannot be told leaves an open alert open, and opens none by itself."""
    run(db, settings, 0, made_up(Finding("unknown", detail="nothing yet")))
    assert messages(db) == []
    run(db, settings, 1, made_up(Finding("failed", ("raw 1",), 1)))
    run(db, settings, 2, made_up(Finding("unknown")))
    assert [kind for kind, _ in messages(db)] == ["alert"]
    assert db.fetch_one("select count(*)::int as n from alerts where closed_at is null") == {"n": 1}


def test_an_audit_that_cannot_be_asked(db: Database, settings: Settings) -> None:
    """When a question raises its answer is failed with the error, it is kept and told, and the next one is asked."""

    def broken(_asked: Asked) -> Finding:
        raise ZeroDivisionError("no such thing")

    failing = Audit("failing", "raw_items", "Is it so?", "error", broken, "select 1")
    answers = run(db, settings, 0, failing, PARKED)
    assert [each.finding.status for each in answers] == ["failed", "ok"]
    assert "ZeroDivisionError: no such thing" in answers[0].finding.detail
    assert [kind for kind, _ in messages(db)] == ["alert"]


def test_without_a_database_no_audit_waits_twice(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the database is away every audit is failed and says so, after having waited for it once."""
    monkeypatch.setattr("argus_memory.db.POOL_WAIT_SECONDS", 0.2)
    with Database("postgresql://argus:none@127.0.0.1:1/argus") as away:
        answers = list(run_audits(away, settings, now=at(0), by="test"))
    assert len(answers) == len(AUDITS)
    assert {each.finding.status for each in answers} == {"failed"}
    assert not any(each.kept for each in answers)
    assert all("cannot be reached" in each.finding.detail for each in answers)


def test_audits_have_names_of_their_own() -> None:
    """No two audits of an asset have one name; each asks a question, and says in SQL where a person looks on."""
    assert len({audit.key for audit in AUDITS}) == len(AUDITS)
    assert all(audit.question.endswith("?") for audit in AUDITS)
    assert all('"' not in audit.look for audit in AUDITS)


def test_the_query_to_look_on_can_be_run(db: Database) -> None:
    """Each query that a person is told to run is one the database understands."""
    for audit in AUDITS:
        with db.transaction() as conn:
            conn.execute(f"explain {audit.look}")


def test_old_measurements_are_forgotten(db: Database, settings: Settings) -> None:
    """Answers, levels and health from before the moment are deleted and counted; what is younger stays."""
    run(db, settings, 0)
    for table, column, more in (
        ("slo_measurements", "slo", ", threshold, status) values ('x', %s, 1, 'unknown')"),
        ("health_samples", "name", ", status) values ('x', %s, 'ok')"),
    ):
        change(db, f"insert into {table} ({column}, at{more}", at(0))
    assert forget_measured(db, before=at(0)) == (0, 0, 0)
    assert forget_measured(db, before=at(0) + timedelta(seconds=1)) == (1, 1, 1)
    assert timedelta(days=400) == MEASURED_KEPT
