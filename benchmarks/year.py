"""A year of invented memory: raw items spread over 365 days, their episodes, and notes with spans, written in bulk.

    from benchmarks.year import fill_year
    with scratch_store() as store, psycopg.connect(store.superuser_dsn) as admin:
        year = fill_year(admin)          # 100,000 raw items, 20,000 notes; about a minute

Everything a stage relies on is true of it: turns in the order said, closed episodes as the present rules cut them (20
turns: the size cap; the next a day later: idle), units distilled, each note's source_ref at its span in its raw item.
Every EVERY-th turn is a decision that the extractive distiller keeps, so that a day can also be made anew in earnest.
Triggers are off while it is written, so this needs a superuser's connection. No vectors: nothing is embedded.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import psycopg

ITEMS, NOTES, DAYS = 100_000, 20_000, 365
TURNS = 20  # an episode: the size cap
PROJECTS = 20
LAST = datetime(2026, 6, 30, tzinfo=UTC)  # the year's last day

# Session s of day d: turns a minute apart from a moment of the day; one episode each, then silence.
_RAW = """
insert into raw_items (id, source, kind, body, session, cwd, project, project_method, project_confidence, metadata,
                       dedup_key, position, said_at, captured_at)
overriding system value
select n, 'claude-code', 'turn',
       case when (n - 1) %% {every} = 0
            then 'We decided to use pump ' || n || ' at ' || n %% 89 || ' bar for bed ' || n %% 97 || ' from now on.'
            else (array['Looking at', 'What about', 'Reading of', 'Here is'])[1 + n %% 4] || ' valve ' || n %% 131
                 || ' beside bed ' || n %% 97 || ', reading ' || n %% 1009 || ' at the gauge' end,
       's' || s, '/home/kim/p' || s %% {projects}, 'p' || s %% {projects}, 'cwd', 0.6,
       jsonb_build_object('role', case when (n - 1) %% 2 = 0 then 'user' else 'assistant' end),
       'year' || n, n, at, at
from (
    select n, (n - 1) / {turns} as s,
           %(first)s::timestamptz
           + ((n - 1) / {turns}) * {days} / {sessions} * interval '1 day'
           + ((n - 1) / {turns}) %% 14 * interval '1 hour' + interval '6 hours'
           + (n - 1) %% {turns} * interval '1 minute' as at
    from generate_series(1, {items}) as n
) made
"""
_TURNS = """
insert into turns (raw_id, source, session, project, role, message_id, said_at, position, chars, tsv, tsv_length)
select id, source, session, project, metadata ->> 'role', null, said_at, position, length(body), t.tsv, length(t.tsv)
from raw_items cross join lateral (select argus_tsvector(body) as tsv offset 0) t
where source = 'claude-code' and dedup_key like 'year%%'
"""
_EPISODES = """
insert into episodes (session, source, project, project_method, project_confidence, cwd, first_raw_id, last_raw_id,
                      turn_count, block_count, started_at, ended_at, boundary_reason, content_key, closed_at, distilled_at)
select session, min(source), min(project), 'cwd', 0.6, min(cwd), min(id), max(id), count(*), count(*), min(said_at),
       max(said_at), 'idle', md5(string_agg(id::text, ',' order by said_at, position, id)),
       max(said_at) + interval '31 minutes', max(said_at) + interval '32 minutes'
from raw_items
where dedup_key like 'year%%'
group by session
"""
_ATTACH = """
update turns t set episode_id = e.id, ordinal = t.raw_id - e.first_raw_id + 1
from episodes e where e.session = t.session
"""
_STATES = """
insert into distill_state (unit_kind, unit_id, project, said_at, status, attempts, model, notes_created, notes_rejected,
                           distilled_at)
select 'episode', id, project, started_at, 'done', 1, 'extractive-v1', {a_unit}, 0, distilled_at from episodes
"""
_NOTES = """
insert into distilled_notes (uid, text_key, raw_id, episode_id, title, content, category, importance, confidence, project,
                             keywords, source_ref, source_start, source_end, role, said_at, model, valid_from,
                             created_at, deduped_at, tsv, tsv_length)
select md5('uid' || r.id), md5('text' || r.id), r.id, t.episode_id, left(r.body, 80), initcap(t.role) || ': ' || r.body, 'decision', 0.7,
       0.5 + (r.id %% 5) / 10.0, r.project, array['pump', 'bed'], r.body, 0, length(r.body), t.role, r.said_at,
       'extractive-v1', r.said_at, r.said_at + interval '1 hour', r.said_at + interval '1 hour',
       v.tsv, length(v.tsv)
from raw_items r
join turns t on t.raw_id = r.id
cross join lateral (select argus_tsvector(r.body) as tsv offset 0) v
where (r.id - 1) %% {every} = 0
order by r.id
limit {notes}
"""
_AFTER = (
    "insert into projects (name, first_method) select 'p' || n, 'cwd' from generate_series(0, {projects} - 1) n on conflict do nothing",
    "select setval(pg_get_serial_sequence('raw_items', 'id'), {items})",
)


@dataclass(frozen=True)
class Year:
    """What was written, and the days it spans."""

    items: int
    notes: int
    first: datetime
    last: datetime


def fill_year(
    admin: psycopg.Connection, *, items: int = ITEMS, notes: int = NOTES, days: int = DAYS, last: datetime = LAST
) -> Year:
    """Write it into an empty migrated store; `items` is rounded down to whole episodes. Commits and analyzes."""
    items -= items % TURNS
    every = max(1, items // notes)
    first = last - timedelta(days=days - 1)
    words = {
        "items": items, "notes": notes, "days": days, "turns": TURNS, "sessions": items // TURNS, "projects": PROJECTS,
        "every": every, "a_unit": max(1, TURNS // every),
    }  # fmt: skip
    admin.execute("set session_replication_role = replica")
    admin.execute("set timezone = 'UTC'")
    for statement in (_RAW, _TURNS, _EPISODES, _ATTACH, _STATES, _NOTES, *_AFTER):
        admin.execute(statement.format(**words), {"first": first})
    admin.execute("set session_replication_role = origin")
    admin.commit()
    admin.autocommit = True
    for table in ("raw_items", "turns", "episodes", "distill_state", "distilled_notes"):
        admin.execute(f"vacuum analyze {table}")
    return Year(items, notes, first, last)
