-- name: registered_tasks
-- Everything register_tasks compares with, in one question: the last load, and the schedule in force of each task.
select t.name, t.spec, t.problem, t.removed_at, s.id as schedule_id, s.schedule, s.timezone, s.start_grace,
       s.max_runtime, s.mode, s.failures_before_alert
from tasks t left join task_schedules s on s.task = t.name and s.until_at is null

-- name: registered_digest
-- One number over all that registered_tasks gives.
select md5(coalesce(string_agg(md5(t::text) || coalesce(md5(s::text), ''), '' order by t.name, s.id), '')) as digest
from tasks t left join task_schedules s on s.task = t.name and s.until_at is null

-- name: lock_registration
select pg_advisory_xact_lock(hashtext('argus.register_tasks'))

-- name: put_tasks
-- changed_at moves only with what a person would call a change: a stanza that slid down a line has not changed.
insert into tasks as t (name, handler, spec, problem, first_seen_at, changed_at)
select r.name, r.handler, r.spec, r.problem, %(now)s, %(now)s
from jsonb_to_recordset(%(rows)s) as r (name text, handler text, spec jsonb, problem text)
on conflict (name) do update set
    handler = excluded.handler, spec = excluded.spec, problem = excluded.problem, removed_at = null,
    changed_at = case when excluded.spec - '{line,file}'::text[] is distinct from t.spec - '{line,file}'::text[]
                        or (excluded.problem is null) is distinct from (t.problem is null) or t.removed_at is not null
                      then excluded.changed_at else t.changed_at end

-- name: remove_tasks
update tasks set removed_at = %(now)s where name = any(%(names)s) and removed_at is null

-- name: close_schedules
update task_schedules set until_at = %(now)s where id = any(%(ids)s) and until_at is null

-- name: open_schedules
insert into task_schedules (task, schedule, timezone, start_grace, max_runtime, mode, failures_before_alert, from_at)
select r.task, r.schedule, r.timezone, make_interval(secs => r.start_grace), make_interval(secs => r.max_runtime),
       r.mode, r.failures_before_alert, %(now)s
from jsonb_to_recordset(%(rows)s) as r (
    task text, schedule text, timezone text, start_grace double precision, max_runtime double precision, mode text,
    failures_before_alert integer)

-- name: alerts_of_tasks
select kind, subject from alerts where closed_at is null and subject = any(%(subjects)s)

-- name: find_task
select name, problem, removed_at from tasks where name = %(name)s

-- name: open_pauses
-- Those that hold at this moment; until_at is when one ends by itself.
select id, task, from_at, until_at, actor, reason from task_pauses
where ended_at is null and from_at <= %(now)s and (until_at is null or until_at > %(now)s)
  and (%(name)s::text is null or task = %(name)s)
order by from_at, id

-- name: end_pauses
update task_pauses set ended_at = %(now)s, ended_by = %(actor)s
where task = %(name)s and ended_at is null and (until_at is null or until_at > %(now)s)
returning id

-- name: begin_pause
insert into task_pauses (task, from_at, until_at, actor, reason)
values (%(name)s, %(now)s, %(until)s, %(actor)s, %(reason)s)
returning id

-- name: latest_runs
-- The last run of each of these tasks, also one that goes on.
select r.* from unnest(%(names)s::text[]) as t (name)
cross join lateral (
    select task, rid::text as rid, outcome, started_at, finished_at, started_by, reason, dagster_run_id
    from task_runs where task = t.name order by started_at desc, id desc limit 1) r

-- name: known_tasks
select name, problem from tasks where removed_at is null

-- name: runs_of_task
select rid::text as rid, started_by, due_at, attempt, started_at, finished_at, outcome, exit_code, signal, reason,
       cost_usd::float8 as cost_usd, engine, dagster_run_id
from task_runs where task = %(name)s order by started_at desc, id desc limit %(limit)s

-- name: run_by_dagster
select rid::text as rid, outcome, started_at, finished_at, exit_code, signal, reason, stdout_tail, stderr_tail, output,
       metrics, cost_usd::float8 as cost_usd, engine
from task_runs where dagster_run_id = %(run)s and task = %(name)s order by started_at desc, id desc limit 1
