-- name: insert_item
-- One row, as most requests have it; passed over where either unique key knows it.
insert into raw_items (source, kind, body, cwd, session, project, project_method, project_confidence, metadata,
                       dedup_key, identity_key, position, said_at, captured_at)
values (%(source)s, %(kind)s, %(body)s, %(cwd)s, %(session)s, %(project)s, %(method)s, %(confidence)s, %(metadata)s,
        %(dedup_key)s, %(identity_key)s, %(position)s, %(said_at)s, %(now)s)
on conflict do nothing
returning id, dedup_key, identity_key

-- name: insert_items
-- Ids follow the order of the request; a row that either unique key knows already is passed over. Arrays go in
-- binary: escaping a thousand bodies costs as much as inserting them.
insert into raw_items (source, kind, body, cwd, session, project, project_method, project_confidence, metadata,
                       dedup_key, identity_key, position, said_at, captured_at)
select i.source, i.kind, i.body, i.cwd, i.session, i.project, i.method, i.confidence, i.metadata::jsonb,
       i.dedup_key, i.identity_key, i.position, i.said_at, %(now)s
from unnest(%(source)b::text[], %(kind)b::text[], %(body)b::text[], %(cwd)b::text[], %(session)b::text[],
            %(project)b::text[], %(method)b::text[], %(confidence)b::real[], %(metadata)b::text[],
            %(dedup_key)b::text[], %(identity_key)b::text[], %(position)b::bigint[], %(said_at)b::timestamptz[])
     with ordinality as i (source, kind, body, cwd, session, project, method, confidence, metadata, dedup_key,
                           identity_key, position, said_at, place)
order by i.place
on conflict do nothing
returning id, dedup_key, identity_key

-- name: find_first
select id, dedup_key, identity_key from raw_items where dedup_key = any(%(dedup_keys)s)
union all
select id, dedup_key, identity_key from raw_items where identity_key = any(%(identity_keys)s)
order by id

-- name: lock_bulk
-- Two bulk requests that insert each other's rows in different order would deadlock; one at a time cannot.
select pg_advisory_xact_lock(hashtext('argus bulk capture'))

-- name: insert_redactions
insert into redactions (raw_id, source, kind, count, at)
select r.raw_id, r.source, r.kind, r.count, %(now)s
from unnest(%(raw_id)s::bigint[], %(source)s::text[], %(kind)s::text[], %(count)s::integer[])
     as r (raw_id, source, kind, count)

-- name: insert_outcomes
insert into capture_outcomes (at, source, session, outcome, reason, count)
select %(now)s, o.source, o.session, o.outcome, o.reason, o.count
from unnest(%(source)s::text[], %(session)s::text[], %(outcome)s::text[], %(reason)s::text[], %(count)s::integer[])
     as o (source, session, outcome, reason, count)

-- name: beat
insert into hook_heartbeats (host, target, version, event, session, missed, first_at, at)
values (%(host)s, %(target)s, %(version)s, %(event)s, %(session)s, %(missed)s, %(now)s, %(now)s)
on conflict (host, target) do update
set version = excluded.version, event = excluded.event, session = excluded.session, missed = excluded.missed,
    at = greatest(hook_heartbeats.at, excluded.at), beats = hook_heartbeats.beats + 1

-- name: insert_mark
-- A hook that got no answer sends the same event again.
insert into session_marks (session, source, mark, at, host, detail, recorded_at)
select %(session)s, %(source)s, %(mark)s, %(at)s, %(host)s, %(detail)s, %(now)s
where not exists (
    select from session_marks m where m.session = %(session)s and m.mark = %(mark)s and m.at = %(at)s
)

-- name: known_sessions
-- Which of these sessions anything was captured of; skipped on purpose counts, since it was seen.
select distinct s.session
from unnest(%(sessions)s::text[]) as s (session)
where exists (select from raw_items r where r.session = s.session)
   or exists (select from capture_outcomes o where o.session = s.session and o.outcome <> 'refused')
