-- name: revision
select version_num from alembic_version

-- name: last_signs
-- When anything was last captured, delivered again or skipped, and when a hook last reported.
select (select captured_at from raw_items where project is distinct from 'argus-canary'
        order by captured_at desc limit 1) as row_at,
       (select max(at) from capture_outcomes
        where outcome <> 'refused' and not starts_with(coalesce(session, ''), 'argus-canary')) as outcome_at,
       (select max(at) from hook_heartbeats) as beat_at

-- name: waiting
-- What waits before each stage and since when it could have been done; `parked` waits for a person.
select 'segment' as stage, count(*)::int as waiting,
       min(greatest(r.captured_at, least(due.last_at + %(idle)s, %(now)s))) as since, 0 as parked
from ({due_tails}) due join raw_items r on r.id = due.last_raw_id
union all
select 'distill', count(*) filter (where status = 'pending')::int,
       min(greatest(queued_at, next_attempt_at)) filter (where status = 'pending'),
       count(*) filter (where status = 'parked')::int
from distill_state where status in ('pending', 'parked')
union all
select 'embed', count(*) filter (where q.attempts < %(attempts)s)::int,
       min(q.queued_at) filter (where q.attempts < %(attempts)s),
       count(*) filter (where q.attempts >= %(attempts)s)::int
from embed_queue q join embedding_spaces s on s.id = q.space_id and s.status <> 'retired'
union all
select 'dedup', count(*)::int, min(n.created_at), 0
from distilled_notes n
where n.deleted_at is null and n.deduped_at is null
  and exists (
      select from note_vectors v join embedding_spaces s on s.id = v.space_id and s.status = 'active'
      where v.note_id = n.id)

-- name: held
select count(*)::int as held from dedup_log where status = 'pending'

-- name: last_passes
select s.stage, p.finished_at, p.outcome
from unnest(%(stages)s::text[]) as s (stage)
cross join lateral (
    select finished_at, outcome from stage_passes where stage = s.stage order by finished_at desc, id desc limit 1
) p

-- name: has_daemon_table
select to_regclass('dagster.daemon_heartbeats') is not null as there

-- name: daemon_heartbeats
select daemon_type, (timestamp at time zone 'UTC') as at from dagster.daemon_heartbeats

-- name: watch_facts
-- What tasks and hooks are judged by: counts and times, no text.
select (select count(*)::int from tasks where removed_at is null) as tasks,
       (select count(*)::int from tasks where removed_at is null and problem is not null) as tasks_broken,
       (select count(*)::int from expected_runs
        where status in ('expected', 'queued') and start_by < %(now)s - %(unjudged)s) as runs_unjudged,
       (select max(started_at) from task_runs) as run_at,
       (select coalesce(jsonb_object_agg(kind, n), '{}')
        from (select kind, count(*) as n from alerts where closed_at is null group by kind) a) as alerts,
       (select count(*)::int from hook_heartbeats where at > %(now)s - interval '30 days') as machines,
       (select max(at) from hook_heartbeats) as hook_at

-- name: last_canary
select sent_at, recalled_at, outcome, failed_at_step from canary_runs order by sent_at desc, id desc limit 1
