"""A store as a household's hub has it after a while: what tests of pages and the screenshots look at. All invented.

`fill(db, settings, now)` writes through the stages' own functions where a person's act is meant (decide, correct,
remember) and straight into the tables where a stage's work is. Sessions, notes and runs lie in the days before `now`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from argus_memory.db import Connection, Database
from argus_memory.rules.uid import text_key
from argus_memory.settings import Settings
from argus_memory.upkeep.decisions import decide
from argus_memory.upkeep.receiving import correct, remember
from argus_memory.upkeep.writing import Writer
from tests.task_stanzas import stanza

# session, project, source, hours before now, turns as (role, text)
TALKS: Sequence[tuple[str, str, str, float, Sequence[tuple[str, str]]]] = (
    ("greenhouse", "garden", "claude-code", 50, (
        ("user", "The greenhouse vents open at 24 degrees now. I changed the relay on Sunday, the old one stuck."),
        ("assistant", "I have written down that the vents open at 24 °C and that the relay is new. Shall the script read the sensor every minute?"),
        ("user", "Every two minutes is enough. And water the tomatoes at six in the morning, never in the evening."),
        ("assistant", "The sensor is now read every two minutes, and watering runs at 06:00."),
    )),
    ("printer", "workshop", "codex", 30, (
        ("user", "The label printer on the bench needs the 62 mm roll; with the 29 mm one it jams every time."),
        ("assistant", "I set the queue `labels` to the 62 mm roll and removed the other tray."),
        ("user", "Good. We decided to keep CUPS and not to use the vendor's driver."),
    )),
    ("backup", "homelab", "claude-code", 9, (
        ("user", "Where do the nightly dumps go? I thought the old disk was gone."),
        ("assistant", "They go to /srv/dumps on the second disk since March; the first one was taken out."),
        ("user", "Then the retention must be 14 days, we have only 200 GB there."),
        ("assistant", "Retention is set to 14 days; the oldest dump is of two weeks ago."),
    )),
    ("sensors", "garden", "claude-code", 2.5, (
        ("user", "The soil sensor in bed three reads 5 percent too low. Correct for it in the script."),
        ("assistant", "The script adds five percentage points for bed three now."),
    )),
)  # fmt: skip

# session, turn number, the words it quotes, content, category, importance, confidence
NOTES: Sequence[tuple[str, int, str, str, str, float, float]] = (
    ("greenhouse", 0, "The greenhouse vents open at 24 degrees now.", "The greenhouse vents open at 24 degrees.", "fact", 0.7, 0.8),
    ("greenhouse", 0, "I changed the relay on Sunday, the old one stuck.", "The relay of the vents was changed because the old one stuck.", "context", 0.4, 0.6),
    ("greenhouse", 2, "water the tomatoes at six in the morning, never in the evening", "Tomatoes are watered at six in the morning, never in the evening.", "preference", 0.8, 0.9),
    ("printer", 0, "The label printer on the bench needs the 62 mm roll", "The label printer on the bench needs the 62 mm roll.", "fact", 0.6, 0.7),
    ("printer", 2, "We decided to keep CUPS and not to use the vendor's driver.", "The label printer stays on CUPS; the vendor's driver is not used.", "decision", 0.7, 0.8),
    ("backup", 1, "They go to /srv/dumps on the second disk since March", "Nightly dumps go to /srv/dumps on the second disk.", "fact", 0.7, 0.7),
    ("backup", 2, "the retention must be 14 days", "Dumps are kept for 30 days.", "decision", 0.8, 0.7),
    ("sensors", 0, "The soil sensor in bed three reads 5 percent too low.", "The soil sensor in bed three reads 5 percent too low.", "fact", 0.6, 0.6),
)  # fmt: skip

# What captured text may hold; each stands in a turn and in a note of its own.
HOSTILE: Sequence[str] = (
    "<script>document.title='owned'</script><img src=x onerror=alert(1)> is what the page said",
    "The invoice is named \u202egpj.exe\u202c and \u200bhas\u200b zero\u200dwidth marks, said the scanner",
    "\x1b[31mred\x1b[0m and \x1b]0;title\x07 came out of the terminal with a \x08 and a \x9b2J",
    "Emoji are fine: 👩‍🔬🌱 and flags 🇦🇹, so is العربية next to עברית and 漢字",
    "https://example.invalid/" + "a" * 900,
)
TASKS: Sequence[tuple[str, str, str]] = (
    ("memory-backup", "0 3 * * *", "ok"), ("watering", "0 6 * * *", "ok"), ("read-feeds", "*/30 * * * *", "ok"),
    ("weather-note", "15 7 * * *", "failed"), ("disk-report", "@daily", "ok"),
)  # fmt: skip


@dataclass(slots=True)
class Filled:
    """What tests ask for by name: note ids by their content's beginning, raw ids by session."""

    notes: dict[str, int]
    turns: dict[str, list[int]]
    hostile_notes: list[int]

    def note(self, beginning: str) -> int:
        return next(id_ for text, id_ in self.notes.items() if text.startswith(beginning))


def fill(db: Database, settings: Settings, now: datetime) -> Filled:
    """Write everything; about half a second."""
    filled = Filled({}, {}, [])
    _talk(db, filled, now)
    _hostile(db, filled, now)
    with db.transaction() as conn:
        _passes(conn, now)
        _health(conn, now)
        _recalls(conn, filled, now)
        _uses(conn, now)
        _registry(conn, now)
        _tasks(conn, now)
        _outbox(conn, now)
        _reviews(conn, filled, now)
        _calls(conn, now)
        _todos(conn, filled, now)
    write_task_list(settings)
    _decide(db, settings, filled, now)
    with db.transaction() as conn:
        conn.execute("update distilled_notes set deduped_at = created_at where deduped_at is null")
    return filled


def add_turn(
    db: Database, text: str, said_at: datetime, *, role: str = "user", session: str, project: str,
    source: str = "claude-code",
) -> int:  # fmt: skip
    """A turn as the hook of the machine `bench` sends it; returns its raw id."""
    row = db.fetch_one(
        """insert into raw_items (source, kind, body, session, project, project_method, project_confidence, cwd,
                                  metadata, dedup_key, said_at, position, captured_at)
           values (%(source)s, 'turn', %(text)s, %(session)s, %(project)s, 'cwd', 0.6, '/home/kim/' || %(project)s,
                   %(metadata)s, md5(%(key)s), %(at)s, 0, %(at)s)
           returning id""",
        {
            "source": source, "text": text, "session": session, "project": project, "at": said_at,
            "metadata": Jsonb({"role": role, "host": "bench"}), "key": f"{session} {said_at} {text[:2000]}",
        },
    )  # fmt: skip
    assert row
    return int(row["id"])


def write_task_list(settings: Settings) -> None:
    """The stanzas of TASKS, as the setting ARGUS_TASKS finds them."""
    folder = settings.tasks_folder
    assert folder.is_relative_to(settings.home), "the stanzas of a test would stand in place of the project's own"
    folder.mkdir(parents=True, exist_ok=True)
    stanzas = [stanza(name, schedule=schedule) for name, schedule, _ in TASKS]
    (folder / "config.ini").write_text("".join(stanzas), "utf-8")
    for name, _, _ in TASKS:
        (folder / name).mkdir(exist_ok=True)


def add_many_notes(db: Database, number: int, now: datetime) -> None:
    """That many plain notes of one turn, for lists that have pages."""
    raw = add_turn(db, "Many facts were said at once.", now - timedelta(days=3), session="many", project="garden")
    with db.transaction() as conn:
        conn.execute(
            """insert into distilled_notes (uid, text_key, raw_id, title, content, category, importance, confidence,
                                            project, source_ref, role, said_at, model, valid_from)
               select 'many-' || n, md5('many' || n), %(raw)s, 'Bed ' || n || ' has plants', 'Bed ' || n || ' has plants.',
                      'fact', (n %% 10) / 10.0, 0.5, 'garden', 'Many facts were said at once.', 'user',
                      %(at)s + n * interval '1 second', 'test', %(at)s
               from generate_series(1, %(number)s) n""",
            {"raw": raw, "number": number, "at": now - timedelta(days=3)},
        )


def _talk(db: Database, filled: Filled, now: datetime) -> None:
    for session, project, source, hours, turns in TALKS:
        begin = now - timedelta(hours=hours)
        ids = [
            add_turn(
                db, text, begin + timedelta(minutes=n), role=role, session=session, project=project, source=source
            )
            for n, (role, text) in enumerate(turns)
        ]
        filled.turns[session] = ids
        with db.transaction() as conn:
            _episode(conn, session, project, source, ids, begin)
    for session, turn, quote, content, category, importance, confidence in NOTES:
        raw_id = filled.turns[session][turn]
        project, body = next((p, t[turn][1]) for s, p, _, _, t in TALKS if s == session)
        filled.notes[content] = add_note(
            db, raw_id, body, quote, content, project=project, category=category, importance=importance,
            confidence=confidence, with_episode=True,
        )  # fmt: skip


def _hostile(db: Database, filled: Filled, now: datetime) -> None:
    for number, text in enumerate(HOSTILE):
        at = now - timedelta(hours=70 - number)
        raw_id = add_turn(db, text, at, session="hostile", project="lab")
        filled.turns.setdefault("hostile", []).append(raw_id)
        filled.hostile_notes.append(add_note(db, raw_id, text, text, text, project="lab", title=text[:80]))
    long = add_turn(db, "x" * 1_000_000, now - timedelta(hours=71), session="hostile", project="lab")
    filled.turns["hostile"].append(long)
    with db.transaction() as conn:
        _episode(conn, "hostile", "lab", "claude-code", filled.turns["hostile"], now - timedelta(hours=71))


def add_note(
    db: Database, raw_id: int, body: str, quote: str, content: str, *, project: str, category: str = "fact",
    importance: float = 0.5, confidence: float = 0.5, title: str | None = None, with_episode: bool = False,
) -> int:  # fmt: skip
    """A live note that quotes a span of a turn's body."""
    start = body.index(quote)
    row = db.fetch_one(
        """insert into distilled_notes (uid, text_key, raw_id, episode_id, title, content, category, importance,
                                        confidence, project, keywords, tags, context, source_ref, source_start,
                                        source_end, role, said_at, model, model_real, valid_from, created_at)
           select md5(%(content)s || %(raw)s), %(key)s, %(raw)s, case when %(with)s then t.episode_id end, %(title)s,
                  %(content)s, %(category)s, %(importance)s, %(confidence)s, %(project)s, %(keywords)s, '{}',
                  'said while setting things up', %(quote)s, %(start)s, %(end)s, t.role, t.said_at, 'extractive-1', null,
                  t.said_at, t.said_at + interval '20 minutes'
           from turns t where t.raw_id = %(raw)s returning id""",
        {
            "raw": raw_id, "content": content, "key": text_key(content), "title": title or content[:80],
            "category": category, "importance": importance, "confidence": confidence, "project": project,
            "keywords": [word for word in content.lower().split()[:4] if word.isalpha()], "quote": quote,
            "start": start, "end": start + len(quote), "with": with_episode,
        },
    )  # fmt: skip
    assert row
    return int(row["id"])


def _episode(conn: Connection, session: str, project: str, source: str, ids: list[int], begin: datetime) -> None:
    row = conn.execute(
        """insert into episodes (session, source, project, first_raw_id, last_raw_id, turn_count, block_count, started_at,
                                 ended_at, boundary_reason, boundary_score, content_key, closed_at, distilled_at)
           values (%(session)s, %(source)s, %(project)s, %(first)s, %(last)s, %(turns)s, %(turns)s, %(begin)s, %(end)s,
                   'idle', null, md5(%(session)s), %(closed)s, %(closed)s) returning id""",
        {
            "session": session, "source": source, "project": project, "first": ids[0], "last": ids[-1],
            "turns": len(ids), "begin": begin, "end": begin + timedelta(minutes=len(ids)),
            "closed": begin + timedelta(minutes=40),
        },
    ).fetchone()  # fmt: skip
    assert row
    conn.execute(
        """update turns t set episode_id = %(id)s, ordinal = u.n
           from unnest(%(ids)s::bigint[]) with ordinality as u (raw_id, n) where t.raw_id = u.raw_id""",
        {"id": row["id"], "ids": ids},
    )
    conn.execute(
        """insert into distill_state (unit_kind, unit_id, status, project, said_at, queued_at, notes_created, model,
                                      distilled_at)
           values ('episode', %(id)s, 'done', %(project)s, %(at)s, %(at)s, 2, 'extractive-1', %(at)s)""",
        {"id": row["id"], "project": project, "at": begin + timedelta(minutes=40)},
    )
    conn.execute(
        """insert into gate_rejections (unit_kind, unit_id, raw_id, episode_id, title, content, source_ref, reason, detail,
                                        model, at)
           values ('episode', %(id)s, %(raw)s, %(id)s, 'It will be sunny', 'It will be sunny for the whole week.',
                   'sunny all week', 'not-grounded', 'these words stand in no turn of the episode', 'extractive-1', %(at)s)""",
        {"id": row["id"], "raw": ids[0], "at": begin + timedelta(minutes=40)},
    )


def _passes(conn: Connection, now: datetime) -> None:
    chance = random.Random(7)
    counts = {"segment": "episodes_closed", "distill": "notes_created", "embed": "turns_embedded", "dedup": "notes"}
    for hour in range(30):
        for stage, name in counts.items():
            busy = chance.random() < 0.6
            number = chance.randint(1, 9) if busy else 0
            failed = stage == "embed" and hour == 11
            more = {"notes_embedded": number // 2} if stage == "embed" else {}
            at = now - timedelta(hours=hour, minutes=chance.randint(2, 50))
            conn.execute(
                """insert into stage_passes (stage, started_at, finished_at, outcome, counts, error, run_id)
                   values (%s, %s, %s, %s, %s, %s, %s)""",
                (
                    stage, at - timedelta(seconds=chance.randint(1, 20)), at, "failed" if failed else "ok",
                    Jsonb({name: number, **more}), "InfraFailure: the model server did not answer" if failed else None,
                    str(UUID(int=chance.getrandbits(128))),
                ),
            )  # fmt: skip


def _health(conn: Connection, now: datetime) -> None:
    names = ("capture", "segment", "distill", "embed", "dedup", "watchdogs", "canary", "hooks", "outbox", "tasks",
             "backups", "database", "migrations", "dagster", "disk")  # fmt: skip
    for hour in range(26):
        at = now - timedelta(hours=hour, minutes=5)
        for name in names:
            status = "ok"
            if name == "embed" and hour in (11, 12):
                status = "failed"
            elif hour < {"tasks": 3, "distill": 6}.get(name, 0):
                status = "warn"
            conn.execute(
                "insert into health_samples (at, name, status, detail) values (%s, %s, %s, %s)",
                (
                    at,
                    name,
                    status,
                    {"ok": "well", "warn": "1 waits for a person", "failed": "cannot be reached"}[status],
                ),
            )
    for watcher, pass_ms in (("watchdog", 41.0), ("dagster", 120.0), ("sender", 6.0)):
        conn.execute(
            """insert into watcher_beats (watcher, at, since, host, pid, pass_ms) values (%s, %s, %s, 'hub', 1, %s)
               on conflict (watcher) do update set at = excluded.at, since = excluded.since, pass_ms = excluded.pass_ms""",
            (watcher, now - timedelta(seconds=8), now - timedelta(hours=49), pass_ms),
        )
    conn.execute(
        "insert into watcher_gaps (watcher, from_at, until_at) values ('dagster', %s, %s)",
        (now - timedelta(hours=11, minutes=40), now - timedelta(hours=11, minutes=20)),
    )
    for hour in range(24):
        at = now - timedelta(hours=hour, minutes=20)
        conn.execute(
            """insert into canary_runs (marker, session, sent_at, captured_at, recalled_at, outcome)
               values (%s, 'argus-canary', %s, %s, %s, 'ok')""",
            (f"marker {hour}", at, at + timedelta(seconds=1), at + timedelta(seconds=2)),
        )
    conn.execute(
        """insert into hook_heartbeats (host, target, version, event, session, first_at, at, beats)
           values ('bench', 'claude-code', '1', 'Stop', 'sensors', %s, %s, 400)""",
        (now - timedelta(days=20), now - timedelta(hours=2, minutes=20)),
    )


def _recalls(conn: Connection, filled: Filled, now: datetime) -> None:
    chance = random.Random(3)
    ids = list(filled.notes.values())
    prompts = ("how warm until the vents open?", "which roll does the label printer need?", "when are tomatoes watered?",
               "where do the dumps go?", "write a poem about rain")  # fmt: skip
    for _ in range(60):
        found = chance.random() < 0.7
        score = round(chance.uniform(0.016, 0.033), 4)
        conn.execute(
            """insert into injections (at, session, query, cwd, project, prompt_mode, note_ids, note_scores, rrf_scores,
                                       dropped, skipped, floor, characters, milliseconds, host)
               values (%s, %s, %s, '/home/kim/garden', 'garden', true, %s, %s, %s, %s, %s, 0.015, %s, %s, 'bench')""",
            (
                now - timedelta(hours=chance.uniform(0, 26)), chance.choice(list(filled.turns)), chance.choice(prompts),
                [chance.choice(ids)] if found else [], [score] if found else [], [score] if found else [],
                Jsonb([{"type": "note", "id": ids[0], "score": 0.4, "rrf_score": 0.0131, "reason": "relevance-floor"}]),
                None if found else "nothing-on-record", 240 if found else 0, chance.uniform(20, 90),
            ),
        )  # fmt: skip


def _registry(conn: Connection, now: datetime) -> None:
    """The projects of the talks with what leads to them; one episode that reads like another project's."""
    for name, method in (("garden", "cwd"), ("workshop", "cwd"), ("homelab", "repo"), ("lab", "cwd")):
        row = conn.execute(
            """insert into projects (name, created_at, first_method) values (%s, %s, %s)
               on conflict (name) do update set first_method = excluded.first_method returning id""",
            (name, now - timedelta(days=40), method),
        ).fetchone()
        assert row
        conn.execute(
            "insert into project_keys (key, project_id) values (%s, %s) on conflict do nothing",
            (f"cwd:/home/kim/{name}", row["id"]),
        )
        conn.execute(
            "update episodes set project_method = %s, project_confidence = %s where project = %s and project_method is null",
            (method, 0.9 if method == "repo" else 0.6, name),
        )
    conn.execute(
        """insert into project_aliases (alias, project_id, at, actor)
           select 'allotment', id, %s, 'kim' from projects where name = 'garden'""",
        (now - timedelta(days=2),),
    )
    conn.execute(
        """insert into project_mismatches (episode_id, project, suggested, similarity, margin, at)
           select id, 'workshop', 'homelab', 0.71, 0.12, %s from episodes where session = 'printer'""",
        (now - timedelta(hours=5),),
    )


def _uses(conn: Connection, now: datetime) -> None:
    """Most of what was shown was judged by the answer that followed; two answers in three used it."""
    conn.execute(
        """insert into injection_checks (injection_id, at, outcome)
           select id, %s, case when id %% 7 = 0 then 'no-answer' else 'scored' end
           from injections where note_ids <> '{}' and id %% 5 <> 0""",
        (now,),
    )
    conn.execute(
        """insert into injection_uses (injection_id, note_id, used, score, turn_raw_id, at)
           select i.id, i.note_ids[1], i.id %% 3 <> 0, (i.id %% 10) / 10.0,
                  (select min(t.raw_id) from turns t where t.role = 'assistant'), %s
           from injections i join injection_checks c on c.injection_id = i.id and c.outcome = 'scored'""",
        (now,),
    )


def _tasks(conn: Connection, now: datetime) -> None:
    chance = random.Random(5)
    for name, schedule, last in TASKS:
        conn.execute(
            "insert into tasks (name, handler, spec, first_seen_at, changed_at) values (%s, 'code', '{}', %s, %s)",
            (name, now - timedelta(days=40), now - timedelta(days=40)),
        )
        for day in range(14):
            at = now - timedelta(days=day, hours=3, minutes=chance.randint(0, 20))
            outcome = last if day == 0 else "ok"
            row = conn.execute(
                """insert into task_runs (rid, task, handler, started_by, due_at, dagster_run_id, host, started_at, beat_at,
                                          finished_at, outcome, exit_code, reason, stdout_tail, cost_usd)
                   values (%s, %s, 'code', 'schedule', %s, %s, 'hub', %s, %s, %s, %s, %s, %s, 'done', %s) returning id""",
                (
                    UUID(int=chance.getrandbits(128)), name, at, str(UUID(int=chance.getrandbits(128))), at, at,
                    at + timedelta(seconds=chance.randint(2, 90)), outcome, 0 if outcome == "ok" else 1,
                    None if outcome == "ok" else "exit code 1: the forecast service answered 502",
                    None if name != "weather-note" else 0.0021,
                ),
            ).fetchone()  # fmt: skip
            assert row
            conn.execute(
                """insert into expected_runs (task, due_at, start_by, max_runtime, schedule, timezone, mode, status,
                                              status_at, decided_by, task_run_id)
                   values (%s, %s, %s, '1 hour', %s, 'UTC', 'run', %s, %s, 'watchdog', %s)""",
                (name, at, at + timedelta(minutes=5), schedule, outcome, at, row["id"]),
            )


def _outbox(conn: Connection, now: datetime) -> None:
    alert = conn.execute(
        """insert into alerts (kind, subject, severity, title, detail, opened_at, opened_by)
           values ('task-failed', 'task:weather-note', 'error', 'weather-note failed', 'exit code 1', %s, 'runner')
           returning id""",
        (now - timedelta(hours=3),),
    ).fetchone()
    assert alert
    conn.execute(
        """insert into deliveries (key, kind, channel, title, body, alert_id, created_at, status, next_try_at, attempts,
                                   last_error)
           values ('alert:1', 'alert', 'main', 'weather-note failed', 'exit code 1', %s, %s, 'pending', %s, 0, null)""",
        (alert["id"], now - timedelta(minutes=2), now + timedelta(minutes=1)),
    )


def _todos(conn: Connection, filled: Filled, now: datetime) -> None:
    """One open and due, one that was done by what was said later."""
    raw, last = filled.turns["greenhouse"][0], 0
    for uid, text, status, due in (
        ("todo-1", "Order a spare relay for the greenhouse vents", "open", (now + timedelta(days=3)).date()),
        ("todo-2", "Remove the old disk", "claimed-done", None),
    ):
        row = conn.execute(
            """insert into task_items (uid, text, project, status, due_on, raw_id, source_ref, said_at, noticed_at, status_at, model)
               values (%s, %s, 'garden', %s, %s, %s, %s, %s, %s, %s, 'cue') returning id""",
            (uid, text, status, due, raw, text, now - timedelta(hours=50), now - timedelta(hours=49), now - timedelta(hours=8)),
        ).fetchone()  # fmt: skip
        assert row
        last = row["id"]
        conn.execute(
            """insert into task_events (item_id, at, from_status, to_status, evidence, evidence_id, quote, method)
               values (%s, %s, null, 'open', 'turn', %s, %s, 'cue')""",
            (last, now - timedelta(hours=49), str(raw), text),
        )
    conn.execute(
        """insert into task_events (item_id, at, from_status, to_status, evidence, evidence_id, quote, method)
           values (%s, %s, 'open', 'claimed-done', 'turn', %s, 'the first one was taken out', 'cue')""",
        (last, now - timedelta(hours=8), str(filled.turns["backup"][1])),
    )


def _calls(conn: Connection, now: datetime) -> None:
    """Two models, one of them without a known price, and an engine; some calls fail."""
    chance = random.Random(11)
    for number in range(90):
        local = number % 3 == 0
        outcome = "infra" if number % 17 == 3 else "ok"
        conn.execute(
            """insert into llm_calls (at, stage, model, model_real, prompt_tokens, completion_tokens, cost_usd, milliseconds,
                                      outcome, detail, run_id)
               values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)""",
            (
                now - timedelta(hours=chance.uniform(0, 400)), "distill" if number % 2 else "dedup",
                "ollama/small" if local else "haiku", "small:8b" if local else "haiku-4", chance.randint(400, 4000),
                chance.randint(20, 400), None if local else round(chance.uniform(0.0004, 0.006), 6),
                chance.randint(300, 9000), outcome, "the server closed the connection" if outcome != "ok" else None,
                str(UUID(int=chance.getrandbits(128))),
            ),
        )  # fmt: skip
    conn.execute(
        """insert into engine_attempts (task, place, engine, model, started_at, finished_at, outcome, cost_usd)
           values ('weather-note', 1, 'claude', 'sonnet', %(at)s, %(at)s, 'ok', null)""",
        {"at": now - timedelta(hours=3)},
    )


def _reviews(conn: Connection, filled: Filled, now: datetime) -> None:
    newer, older = filled.note("Nightly dumps"), filled.note("Dumps are kept")
    conn.execute(
        """insert into dedup_log (note_id, other_id, verdict, similarity, same_fact, model, status, reasoning, at)
           values (%s, %s, 'supersede', 0.86, true, 'rules', 'pending', 'both speak of dumps, the later one of a disk', %s)""",
        (newer, older, now - timedelta(hours=7)),
    )
    unit = conn.execute("select id from episodes where session = 'sensors'").fetchone()
    assert unit
    conn.execute(
        """update distill_state set status = 'parked', content_failures = 5, last_error_class = 'content',
                  last_error = 'the answer is no JSON' where unit_kind = 'episode' and unit_id = %s""",
        (unit["id"],),
    )


def _decide(db: Database, settings: Settings, filled: Filled, now: datetime) -> None:
    """A person's and an agent's acts, through the functions the pages call."""
    at = now - timedelta(minutes=30)
    kim: dict[str, Any] = {"now": at}
    decide(db, "pin", filled.note("Tomatoes"), "kim", **kim)
    decide(db, "exclude", filled.note("The relay"), "kim", reason="of no use", **kim)
    old = filled.note("Dumps are kept for 30")
    receipt = correct(db, settings, old, "Dumps are kept for 14 days.", Writer("kim"), now=at, reason="said so")
    assert receipt.note_id
    filled.notes["Dumps are kept for 14 days."] = receipt.note_id
    remember(db, settings, "The heating oil is delivered in October.", Writer("codex", "agent", "mcp"), now=at)
