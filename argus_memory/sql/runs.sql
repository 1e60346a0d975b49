-- name: lock_task
-- One decision at a time about a task: whether it may start, how many failures stand in a row.
select pg_advisory_xact_lock(hashtextextended('argus/task/' || %(task)s, 0))

-- name: find_open_run
-- Argus's own: a start that somebody reported, and never the end, must not keep a task from running.
select id, rid, started_at, started_by from task_runs
where task = %(task)s and finished_at is null and rid <> %(rid)s and started_by <> 'report'
order by started_at limit 1

-- name: insert_run
insert into task_runs (rid, task, handler, started_by, due_at, dagster_run_id, attempt, host, pid, pid_started_at,
                       started_at, beat_at, retries_left)
values (%(rid)s, %(task)s, %(handler)s, %(started_by)s, %(due_at)s, %(dagster_run_id)s, %(attempt)s, %(host)s, %(pid)s,
        %(pid_started_at)s, %(started_at)s, %(now)s, %(retries_left)s)
on conflict (rid) do nothing
returning id

-- name: beat_run
update task_runs set beat_at = %(now)s where rid = %(rid)s and finished_at is null

-- name: start_expected
-- A decided row is never moved back. An attempt that comes after another finds the row open and is noted on it.
insert into expected_runs as e (task, due_at, start_by, max_runtime, schedule, timezone, mode, status, status_at,
                                decided_by, reason, task_run_id, dagster_run_id)
values (%(task)s, %(due_at)s, %(start_by)s, %(max_runtime)s, %(schedule)s, %(timezone)s, %(mode)s, %(status)s, %(now)s,
        %(by)s, %(reason)s, %(run_id)s, %(dagster_run_id)s)
on conflict (task, due_at) do update
set status = case when e.status = 'overrunning' then e.status else excluded.status end,
    status_at = excluded.status_at, decided_by = excluded.decided_by, reason = excluded.reason,
    task_run_id = excluded.task_run_id, dagster_run_id = coalesce(excluded.dagster_run_id, e.dagster_run_id)
where e.status in ('expected', 'queued', 'started', 'late', 'missed', 'overrunning')

-- name: skip_expected
insert into expected_runs as e (task, due_at, start_by, max_runtime, schedule, timezone, mode, status, status_at,
                                decided_by, reason, task_run_id, dagster_run_id)
values (%(task)s, %(due_at)s, %(start_by)s, %(max_runtime)s, %(schedule)s, %(timezone)s, %(mode)s, 'skipped-overlap',
        %(now)s, %(by)s, %(reason)s, %(run_id)s, %(dagster_run_id)s)
on conflict (task, due_at) do update
set status = excluded.status, status_at = excluded.status_at, decided_by = excluded.decided_by,
    reason = excluded.reason, task_run_id = excluded.task_run_id
where e.status in ('expected', 'queued', 'late', 'missed')

-- name: close_expected
update expected_runs
set status = %(status)s, status_at = %(now)s, decided_by = %(by)s, reason = %(reason)s, task_run_id = %(run_id)s
where task = %(task)s and due_at = %(due_at)s
  and status in ('expected', 'queued', 'started', 'late', 'missed', 'overrunning')

-- name: find_run_task
select task from task_runs where rid = %(rid)s

-- name: lock_run
select id, rid, task, handler, started_by, due_at, started_at, finished_at, outcome, exit_code, retries_left, dagster_run_id,
       attempt
from task_runs where rid = %(rid)s for update

-- name: close_run
update task_runs
set finished_at = %(finished_at)s, beat_at = greatest(beat_at, %(finished_at)s), outcome = %(outcome)s,
    exit_code = %(exit_code)s, signal = %(signal)s, reason = %(reason)s, stdout_tail = %(stdout_tail)s,
    stderr_tail = %(stderr_tail)s, stdout_bytes = %(stdout_bytes)s, stderr_bytes = %(stderr_bytes)s,
    output = %(output)s, metrics = %(metrics)s, cost_usd = %(cost_usd)s, engine = %(engine)s,
    redactions = %(redactions)s
where id = %(id)s and finished_at is null

-- name: count_failures
-- Failures in a row up to now. What was skipped counts as neither, an attempt that is tried again neither.
select count(*) as failures
from task_runs r
where r.task = %(task)s and r.outcome in ('failed', 'timed-out', 'orphaned')
  and (r.retries_left = 0 or r.outcome = 'orphaned')
  and r.started_at > coalesce(
      (select max(o.started_at) from task_runs o where o.task = %(task)s and o.outcome = 'ok'), '-infinity')

-- name: find_policy
-- What the task's list says about telling, for reports that come without a stanza.
select t.spec ->> 'channel' as channel,
       coalesce(s.failures_before_alert, (t.spec ->> 'failures_before_alert')::integer, 1) as failures_before_alert
from tasks t
left join task_schedules s on s.task = t.name and s.until_at is null
where t.name = %(task)s

-- name: open_runs
select id, rid, task, host, pid, pid_started_at, started_at, beat_at
from task_runs
where finished_at is null and started_by <> 'report' and (%(task)s::text is null or task = %(task)s)
order by id

-- name: note_run
-- What the task said about itself so far; the end replaces it.
update task_runs set output = %(output)s, metrics = %(metrics)s, cost_usd = %(cost_usd)s, engine = %(engine)s
where rid = %(rid)s and finished_at is null

-- name: insert_report
insert into run_reports (received_at, task, rid, source, body, verdict, reason)
values (%(now)s, %(task)s, %(rid)s, %(source)s, %(body)s, %(verdict)s, %(reason)s)

-- name: find_reported_task
-- The task as its list has it now, with the schedule in force where there is one.
select t.name, t.handler, s.schedule, s.timezone, s.start_grace, s.max_runtime, s.mode, s.from_at
from tasks t
left join task_schedules s on s.task = t.name and s.until_at is null
where t.name = %(task)s and t.removed_at is null

-- name: find_same_report
select rid from run_reports
where task = %(task)s and body = %(body)s and verdict in ('started', 'finished') and rid is not null
order by received_at desc limit 1

-- name: find_open_report
select rid from task_runs
where task = %(task)s and started_by = 'report' and finished_at is null
order by started_at desc limit 1

-- name: taken_dues
select due_at from expected_runs
where task = %(task)s and due_at = any(%(dues)s) and task_run_id is not null
