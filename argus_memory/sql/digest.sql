-- name: tasks_ran
-- What each task did since %(since)s; `reason` of its last failure.
select task, count(*) filter (where outcome = 'ok')::int as ok,
       count(*) filter (where outcome in ('failed', 'timed-out', 'orphaned'))::int as failed,
       count(*) filter (where outcome = 'skipped')::int as skipped,
       count(*) filter (where outcome is null or outcome = 'overrunning')::int as running,
       (array_agg(coalesce(reason, outcome) order by started_at desc)
           filter (where outcome in ('failed', 'timed-out', 'orphaned')))[1] as reason
from task_runs
where started_at > %(since)s and started_at <= %(now)s
group by task
order by task

-- name: not_run
-- Occurrences that nobody ran, by task.
select task, count(*)::int as missed, max(due_at) as last_due_at,
       (array_agg(reason order by due_at desc))[1] as reason
from expected_runs
where status = 'missed' and due_at > %(since)s and due_at <= %(now)s
group by task
order by task

-- name: held_reviews
-- What waits for a person: how many, since when; `late` those older than %(late)s. A held regeneration has an alert
-- of its own and is not late here.
with waits (kind, id, at) as (
    select 'merges', id, at from dedup_log where status = 'pending'
    union all select 'decisions', id, at from note_decisions where status = 'held'
    union all select 'proposals', id, at from note_proposals where status = 'pending'
    union all select 'regenerations', id, coalesce(finished_at, started_at) from regenerations where status = 'held'
),
by_kind as (select kind, (array_agg(id order by id))[1:20] as ids from waits group by kind)
select count(*)::int as held, min(at) as since,
       count(*) filter (where at <= %(late)s and kind <> 'regenerations')::int as late,
       (select coalesce(jsonb_object_agg(kind, ids), '{}') from by_kind) as ids
from waits

-- name: held_regenerations
-- Those held since before %(before)s, the latest first.
select id, first_day, last_day, loss, loss_guard from regenerations
where status = 'held' and coalesce(finished_at, started_at) <= %(before)s
order by id desc

-- name: parked_units
-- Units that failed too often, and texts that could not be embedded.
select (select count(*)::int from distill_state where status = 'parked') as units,
       coalesce((select array_agg(id order by id)
                 from (select unit_kind || ' ' || unit_id as id from distill_state
                       where status = 'parked' order by 1 limit 20) p), '{}') as ids,
       (select count(*)::int from embed_queue q join embedding_spaces s on s.id = q.space_id and s.status <> 'retired'
        where q.attempts >= %(attempts)s) as texts

-- name: costs
-- Calls of models and engines: those whose cost is known, and those whose is not. The engine `api` keeps its books in
-- llm_calls.
select count(*)::int as calls, sum(cost_usd)::float as usd, count(*) filter (where cost_usd is null)::int as unknown
from (
    select cost_usd::numeric from llm_calls where at > %(since)s and at <= %(now)s
    union all
    select cost_usd from engine_attempts
    where finished_at > %(since)s and finished_at <= %(now)s and outcome <> 'left-alone' and engine <> 'api'
) c

-- name: told_costs
-- What scripts told of themselves; where they asked models through Argus, those calls are in `costs` as well.
select count(*)::int as runs, sum(cost_usd)::float as usd
from task_runs
where finished_at > %(since)s and finished_at <= %(now)s and handler = 'code' and cost_usd is not null

-- name: canaries
select count(*) filter (where outcome = 'ok')::int as ok, count(*) filter (where outcome = 'failed')::int as failed,
       (select coalesce(outcome, 'under way') from canary_runs order by sent_at desc limit 1) as last,
       (select failed_at_step from canary_runs order by sent_at desc limit 1) as step
from canary_runs where sent_at > %(since)s and sent_at <= %(now)s

-- name: levels
-- The last measurement of each service level.
select distinct on (slo) slo, value, threshold, status from slo_measurements order by slo, at desc

-- name: spent
-- Of each stage in the last hour: model calls and tokens, and calls of an engine on its behalf.
select stage, sum(calls)::int as calls, sum(tokens)::bigint as tokens, sum(engine_calls)::int as engine_calls
from (
    select stage, 1 as calls, coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0) as tokens, 0 as engine_calls
    from llm_calls where at > %(since)s
    union all
    select stage, 0, 0, 1 from engine_attempts
    where stage is not null and rid is null and outcome <> 'left-alone' and finished_at > %(since)s
) s
group by stage
order by stage

-- name: open_budget_alerts
select subject from alerts where kind = 'budget' and closed_at is null
