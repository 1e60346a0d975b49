"""What is redacted is nowhere in the live database; and nothing but a redaction changes what was captured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from argus_cli.embedded_postgres import EmbeddedPostgres
from argus_memory.db import Database
from argus_memory.errors import NotFound, UsageError
from argus_memory.upkeep.redacting import redact, sweep
from tests.distill_rows import add_episode
from tests.integration.receiving.nowhere import find_in_columns, find_in_files
from tests.memory_rows import add_note, add_space, add_turn, add_vector, at

SECRET = "Zwiebelhuber 0171-5550199"
SAID = f"The plumber is {SECRET} and comes on Friday. The cellar key hangs behind the door."
FACT = f"The plumber is {SECRET}."
NOW = at(600)


def run(db: Database, query: str, *values: Any) -> list[dict[str, Any]]:
    with db.transaction() as conn:
        cursor = conn.execute(query, values)
        return cursor.fetchall() if cursor.description else []


@pytest.fixture
def data(postgres: EmbeddedPostgres) -> Path:
    return Path(run_one(postgres.dsn("postgres", "postgres"), "show data_directory"))


def run_one(dsn: str, query: str) -> str:
    with psycopg.connect(dsn) as conn:
        row = conn.execute(query).fetchone()
    assert row
    return str(row[0])


@pytest.fixture
def said(db: Database) -> dict[str, int]:
    """A turn with a secret, and all that a store makes of such a turn."""
    space = add_space(db)
    episode, raws = add_episode(db, [("user", SAID), ("assistant", f"Noted: {SECRET.upper()}, on Friday.")])
    note = add_note(db, FACT, raw_id=raws[0], episode_id=episode)
    door = add_note(db, "The cellar key hangs behind the door.", raw_id=raws[0], episode_id=episode)
    other = add_note(db, f"Kim pays {SECRET} in cash.", raw_id=add_turn(db, "Kim pays the plumber in cash.", at(9)))
    run(db, "update distilled_notes set source_ref = 'Kim pays the plumber in cash.' where id = %s", other)
    for id_, quote in ((note, SAID[: SAID.index(" and comes")]), (door, "The cellar key hangs behind the door.")):
        start = SAID.index(quote)
        run(db, "update distilled_notes set source_ref = %s, source_start = %s, source_end = %s where id = %s",
            quote, start, start + len(quote), id_)  # fmt: skip
    run(db, "update distilled_notes set content = content || ' Call first.', keywords = %s where id = %s",
        [SECRET.split()[0], "plumber"], note)  # fmt: skip
    run(db, "update distilled_notes set content = %s where id = %s", FACT, note)
    for id_ in (note, door):
        add_vector(db, space, "note", id_, [1, 0])
    add_vector(db, space, "turn", raws[0], [1, 0])
    run(db, """insert into dedup_log (note_id, other_id, verdict, model, status, reasoning)
               values (%s, %s, 'supersede', 'm', 'pending', %s)""", note, other, f"both name {SECRET}")  # fmt: skip
    run(db, "insert into injections (query, prompt_mode, session) values (%s, true, 's')", f"who is\n {SECRET}?")
    run(db, """insert into llm_calls (stage, unit_kind, unit_id, model, milliseconds, outcome, detail)
               values ('distill', 'episode', %s, 'm', 1, 'content', %s)""", episode, f"not JSON: {SECRET}")  # fmt: skip
    run(db, """insert into gate_rejections (unit_kind, unit_id, raw_id, title, content, source_ref, reason)
               values ('episode', %s, %s, 'x', %s, %s, 'shape')""", episode, raws[0], FACT, FACT)  # fmt: skip
    run(db, "insert into distill_failures (unit_kind, unit_id, class, detail, attempt) values ('episode', %s, 'content', %s, 1)",
        episode, FACT)  # fmt: skip
    run(db, """insert into task_runs (rid, task, started_by, started_at, beat_at, stdout_tail, output)
               values (gen_random_uuid(), 't', 'person', now(), now(), %s, %s)""",
        f"calling {SECRET}", Jsonb({"who": [SECRET, {SECRET: 1}]}))  # fmt: skip
    run(db, """insert into run_reports (received_at, task, source, body, verdict) values (now(), 't', 'x', %s, 'refused')""",
        Jsonb({"reason": f"no answer from {SECRET}"}))  # fmt: skip
    run(db, """insert into note_decisions (at, decision, status, uid, text_key, content, category, note_id, actor, actor_kind)
               select now(), 'forget', 'held', uid, text_key, content, category, id, 'claude', 'agent'
               from distilled_notes where id = %s""", note)  # fmt: skip
    run(db, """insert into task_items (uid, text, raw_id, source_ref, said_at, noticed_at, status_at, model)
               values ('u', %s, %s, %s, now(), now(), now(), 'm')""", f"call {SECRET}", raws[0], SAID)  # fmt: skip
    run(db, "insert into term_frequencies values ('turn', 'zwiebelhub', 3), ('turn', 'plumber', 3)")
    run(db, "create schema dagster")
    run(db, "create table dagster.event_logs (id bigserial primary key, run_id text, event text)")
    run(db, "insert into dagster.event_logs (run_id, event) values ('r', %s)",
        json.dumps({"metadata": json.dumps({"text": f"Zwiebelhuber\n0171-5550199 {SECRET}"})}))  # fmt: skip
    run(db, "create table dagster.kvs (key text primary key, value text)")
    run(db, "insert into dagster.kvs values ('k', %s)", SAID)
    return {"raw": raws[0], "answer": raws[1], "note": note, "door": door, "other": other, "episode": episode}


def test_the_words_are_nowhere_afterwards(
    db: Database, dsn: str, postgres: EmbeddedPostgres, data: Path, said: dict[str, int]
) -> None:
    """No column of any table, no sample of the planner and no page of any file holds redacted words."""
    assert find_in_columns(dsn, "Zwiebelhuber")
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("analyze")
    receipt = redact(db, note_id=said["note"], text=SECRET, reason=f"{SECRET} asked for it", actor="kim", now=NOW)

    assert receipt.outcome == "changed"
    assert receipt.kept == ()
    assert receipt.unswept == ()
    assert sorted(receipt.raws) == [said["raw"], said["answer"]]
    for words in ("Zwiebelhuber", "zwiebelhub", "5550199"):
        assert find_in_columns(dsn, words) == []
        admin = postgres.dsn("postgres", str(psycopg.conninfo.conninfo_to_dict(dsn)["dbname"]))
        assert find_in_files(admin, data, words) == []


def test_a_whole_source_takes_what_was_made_of_it_along(db: Database, dsn: str, said: dict[str, int]) -> None:
    """Without a text the body goes whole, its notes are blank tombstones, and its sentences are nowhere else."""
    receipt = redact(db, note_id=said["door"], reason="private", actor="kim", now=NOW)

    assert run(db, "select body from raw_items where id = %s", said["raw"]) == [{"body": "[redacted:request]"}]
    notes = run(db, "select content, deleted_reason from distilled_notes where id = any(%s) order by id",
                [said["note"], said["door"]])  # fmt: skip
    assert notes == [{"content": "[redacted:request]", "deleted_reason": "redacted"}] * 2
    assert find_in_columns(dsn, "cellar key") == []
    assert find_in_columns(dsn, SAID) == []
    assert said["note"] in receipt.notes


def test_a_span_leaves_the_rest_standing(db: Database, said: dict[str, int]) -> None:
    """Other words, notes beside the span and every quotation's place in its source stay true."""
    redact(db, note_id=said["note"], text=SECRET.lower(), reason=None, actor="kim", now=NOW)

    body = "The plumber is [redacted:request] and comes on Friday. The cellar key hangs behind the door."
    assert run(db, "select body from raw_items where id = %s", said["raw"]) == [{"body": body}]
    notes = {row["id"]: row for row in run(db, "select * from distilled_notes")}
    assert notes[said["note"]]["content"] == "The plumber is [redacted:request]."
    assert notes[said["note"]]["deleted_at"] is None
    assert notes[said["door"]]["content"] == "The cellar key hangs behind the door."
    assert notes[said["door"]]["redacted_at"] is None
    for id_ in (said["note"], said["door"]):
        note = notes[id_]
        assert body[note["source_start"] : note["source_end"]] == note["source_ref"]
    assert notes[said["other"]]["content"] == "Kim pays [redacted:request] in cash."
    assert run(db, "select target_id from embed_queue where target = 'note' order by 1") == [
        {"target_id": said["note"]}, {"target_id": said["other"]}]  # fmt: skip


def test_a_redaction_is_on_record(db: Database, said: dict[str, int]) -> None:
    """Who, why, length class and a hash are kept; history has the event, and the decision binds the note's uid."""
    receipt = redact(db, note_id=said["note"], text=SECRET, reason="asked", actor="kim", now=NOW)

    rows = run(db, "select raw_id, kind, count, actor, reason, length_class from redactions order by id")
    assert rows[0] == {"raw_id": said["raw"], "kind": "request", "count": 1, "actor": "kim", "reason": "asked",
                       "length_class": "16-63"}  # fmt: skip
    assert receipt.hash == run(db, "select hash from redactions order by id limit 1")[0]["hash"]
    events = run(db, "select event, actor, detail from note_events where note_id = %s and event = 'redacted'", said["note"])
    assert [(row["event"], row["actor"]) for row in events] == [("redacted", "kim")]
    decisions = run(db, """select d.decision, d.status from note_decisions d join distilled_notes n on n.uid = d.uid
                           where n.id = %s order by d.id""", said["note"])  # fmt: skip
    assert [(row["decision"], row["status"]) for row in decisions] == [("forget", "overtaken"), ("redact", "in-force")]


def test_a_held_merge_of_a_redacted_note_is_settled(db: Database, said: dict[str, int]) -> None:
    """A merge that waited for a person is rejected by the redaction, and its reasoning says nothing any more."""
    redact(db, raw_id=said["raw"], reason="private", actor="kim", now=NOW)
    assert run(db, "select status, decided_by, reasoning from dedup_log") == [
        {"status": "rejected", "decided_by": "kim", "reasoning": "[redacted:request]"}
    ]


def test_a_second_redaction_of_a_whole_source_changes_nothing(db: Database, said: dict[str, int]) -> None:
    """Redacting what is redacted is a no-op."""
    redact(db, raw_id=said["raw"], reason="private", actor="kim", now=NOW)
    before = run(db, "select * from redactions")
    receipt = redact(db, raw_id=said["raw"], reason="private", actor="kim", now=NOW)
    assert receipt.outcome == "no-op"
    assert run(db, "select * from redactions") == before


def test_a_repeat_of_a_redacted_turn_stays_out(db: Database, said: dict[str, int]) -> None:
    """The keys of the item stand: what is captured again of the same turn is a repeat, not a new row."""
    before = run(db, "select id, dedup_key, identity_key from raw_items order by id")
    redact(db, raw_id=said["raw"], reason="private", actor="kim", now=NOW)
    assert run(db, "select id, dedup_key, identity_key from raw_items order by id") == before


def test_a_dry_run_changes_nothing(db: Database, dsn: str, said: dict[str, int]) -> None:
    """A dry run counts what a redaction would change, and leaves every word."""
    before = find_in_columns(dsn, "Zwiebelhuber")
    receipt = redact(db, note_id=said["note"], text=SECRET, actor="kim", now=NOW, dry_run=True)
    assert receipt.outcome == "dry-run"
    assert receipt.tables is not None
    assert receipt.tables["raw_items"] == 2
    assert find_in_columns(dsn, "Zwiebelhuber") == before


def test_the_door_opens_for_the_function_alone(db: Database, said: dict[str, int]) -> None:
    """Whoever sets the setting by hand still cannot change or delete what was captured."""
    for statement in ("update raw_items set body = 'x'", "delete from raw_items", "update note_events set actor = 'x'"):
        with psycopg.connect(db.dsn, options="-c argus.redacting=on") as conn, pytest.raises(psycopg.Error) as caught:
            conn.execute(statement)
        assert caught.value.sqlstate == "AR001"


def test_words_that_are_not_there_or_everywhere_are_refused(db: Database, said: dict[str, int]) -> None:
    """Words that the source does not hold, or too few of them, change nothing and are said so."""
    with pytest.raises(NotFound, match="do not stand in raw item"):
        redact(db, note_id=said["note"], text="the gardener", actor="kim", now=NOW)
    with pytest.raises(UsageError, match="fewer than four letters"):
        redact(db, note_id=said["note"], text="is Z", actor="kim", now=NOW)
    with pytest.raises(NotFound, match="no note 999999"):
        redact(db, note_id=999999, actor="kim", now=NOW)
    assert run(db, "select id from redactions") == []


def test_a_reader_of_the_past_holds_the_sweep_up_until_it_is_gone(db: Database, dsn: str, said: dict[str, int]) -> None:
    """A sweep that an open transaction holds up stays on record and is done by the next one."""
    with psycopg.connect(dsn) as reader:
        reader.execute("set transaction isolation level repeatable read")
        reader.execute("select count(*) from store_settings")
        with db.transaction() as conn:
            conn.execute("select argus_redact(%s, null, null, null, 'kim', 'private')", (said["raw"],))
        swept, waiting = sweep(db, now=NOW, seconds=0.1)
        assert swept == ()
        assert "raw_items" in waiting
    swept, waiting = sweep(db, now=NOW)
    assert "raw_items" in swept
    assert waiting == ()
    assert run(db, "select id from redaction_sweeps where swept_at is null") == []


def test_backups_made_before_are_named_with_their_age(db: Database, said: dict[str, int]) -> None:
    """A dump that still holds the words is named; one that was rotated away is not."""
    run(db, """insert into backups (started_at, finished_at, outcome, path, removed_at)
               values (%(a)s, %(a)s, 'proven', '/backups/old', null), (%(a)s, %(a)s, 'made', '/backups/gone', %(a)s)"""
        .replace("%(a)s", f"'{at(600 - 1440).isoformat()}'"))  # fmt: skip
    receipt = redact(db, raw_id=said["raw"], actor="kim", now=NOW)
    assert [(dump.path, dump.days) for dump in receipt.dumps] == [("/backups/old", 1.0)]
