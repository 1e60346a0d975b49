-- name: unentered_schedules
-- In force, or closed before their last occurrences stood in the ledger.
select s.id, s.task, s.schedule, s.timezone, s.start_grace, s.max_runtime, s.mode, s.from_at, s.until_at, s.entered_until
from task_schedules s
where s.until_at is null or s.entered_until is null or s.entered_until < s.until_at
order by s.task, s.id

-- name: enter_occurrences
-- In a fixed order, so that two watchdogs wait for each other and never lock each other out.
insert into expected_runs (task, due_at, start_by, max_runtime, schedule, timezone, mode, status_at, decided_by)
select s.task, w.due_at, w.due_at + s.start_grace, s.max_runtime, s.schedule, s.timezone, s.mode, %(now)s, %(by)s
from unnest(%(schedules)s::bigint[], %(dues)s::timestamptz[]) as w (schedule, due_at)
join task_schedules s on s.id = w.schedule
order by s.task, w.due_at
on conflict (task, due_at) do nothing
returning id

-- name: note_entered
-- A row that somebody else holds is left: its occurrences are offered once more, and are there already.
with wanted as (
    select * from unnest(%(ids)s::bigint[], %(untils)s::timestamptz[]) as w (id, entered_until)
), held as (
    select s.id from task_schedules s where s.id = any(%(ids)s) order by s.id for update skip locked
)
update task_schedules s set entered_until = greatest(s.entered_until, w.entered_until)
from wanted w, held h
where s.id = w.id and h.id = s.id

-- name: expect_again
-- The clock was set back: what was called missed in a time that has yet to come is not missed.
update expected_runs
set status = 'expected', status_at = %(now)s, decided_by = %(by)s, reason = 'the clock was set back', task_run_id = null
where status = 'missed' and due_at > %(now)s
returning id, task, due_at, 'missed' as from_status, status as to_status, reason

-- name: forget_far_grace
-- The clock was set back: a silence that ended in the future moved the end of a grace there. No honest one lies so far.
update expected_runs o
set start_by = o.due_at + g.grace
from (
    select e.id, coalesce((select s.start_grace from task_schedules s where s.task = e.task and s.from_at <= e.due_at
                           order by s.from_at desc limit 1), e.start_by - e.due_at) as grace
    from expected_runs e
    where e.status in ('expected', 'queued') and e.start_by > %(now)s
) g
where o.id = g.id and o.start_by > greatest(%(now)s, o.due_at) + g.grace

-- name: open_facts
-- Every open row with what is known about it, in one question. Not the missed ones: a run that comes late moves its
-- row itself (sql/runs.sql), also one that another scheduler reports.
select o.id, o.task, o.due_at, o.start_by, o.max_runtime, o.timezone, o.mode, o.status, o.reason,
       r.id as run_id, r.started_at, r.finished_at, r.outcome, r.reason as run_reason, r.attempt, r.retries_left,
       r.dagster_run_id,
       p.from_at as paused_at, p.ends_at as pause_ends_at, p.actor as paused_by,
       b.started_at as busy_since,
       g.from_at as off_from, g.until_at as off_until,
       exists (select from expected_runs n where n.task = o.task and n.due_at > o.due_at and n.due_at <= %(now)s)
           as newer_due,
       coalesce((select s.start_grace from task_schedules s where s.task = o.task and s.from_at <= o.due_at
                 order by s.from_at desc limit 1), o.start_by - o.due_at) as grace,
       -- Ordered, and not `exists`: the planner would read the table for a task it takes for frequent.
       (select a.id from task_runs a where a.task = o.task order by a.started_at desc limit 1) is not null as has_run
from expected_runs o
left join lateral (
    select * from task_runs x where x.task = o.task and x.due_at = o.due_at order by x.id desc limit 1
) r on true
left join lateral (
    select x.from_at, x.actor, least(x.until_at, x.ended_at) as ends_at from task_pauses x
    where x.task = o.task and x.from_at <= least(o.start_by, %(now)s)
      and coalesce(least(x.until_at, x.ended_at), 'infinity') > o.due_at
    order by x.from_at desc limit 1
) p on r.id is null
left join lateral (
    -- The last run that began before it was due, where that was still at work then. A runner that died with the machine
    -- leaves its run open; it does not beat.
    select x.started_at from (
        select * from task_runs y where y.task = o.task and y.started_at <= o.due_at order by y.started_at desc limit 1
    ) x
    where coalesce(x.finished_at, 'infinity') > o.due_at
      and (x.finished_at is not null or x.beat_at > o.due_at - interval '5 minutes')
) b on r.id is null and (select t.spec ->> 'no_overlap' from tasks t where t.name = o.task) = 'true'
left join lateral (
    select x.from_at, x.until_at from (
        -- One that ends in the future was noted while the clock was ahead.
        select from_at, until_at from watcher_gaps
        where until_at >= o.due_at and until_at <= %(now)s and watcher <> 'sender'
        union all
        -- This watcher comes back right now and has not noted its silence yet.
        select at, %(now)s from watcher_beats where watcher = %(by)s and at < %(now)s - %(silence)s
    ) x
    where x.from_at <= o.due_at and x.until_at >= o.due_at
    order by x.until_at desc limit 1
) g on r.id is null
where o.status in ('expected', 'queued', 'started', 'late', 'overrunning') and o.due_at <= %(now)s
order by o.task, o.due_at

-- name: has_dagster
select to_regclass('dagster.runs') is not null and to_regclass('dagster.run_tags') is not null as there

-- name: dagster_runs
-- Dagster's runs for these occurrences, by the tags of a scheduled task run; the newest last.
select t.value as task, d.value as due, r.run_id, r.status, r.create_timestamp at time zone 'UTC' as since
from dagster.run_tags d
join dagster.run_tags t on t.run_id = d.run_id and t.key = 'argus/task'
join dagster.runs r on r.run_id = d.run_id
where d.key = 'argus/due_at' and d.value = any(%(dues)s) and t.value = any(%(tasks)s)
order by r.id

-- name: move_expected
-- Guarded by the old status: of two watchdogs one changes a row, and only who changed it may tell.
with wanted as (
    select * from unnest(%(ids)s::bigint[], %(olds)s::text[], %(news)s::text[], %(reasons)s::text[],
                         %(start_bys)s::timestamptz[], %(run_ids)s::bigint[], %(dagster_runs)s::text[])
        as w (id, old, new, reason, start_by, run_id, dagster_run_id)
), held as (
    select e.id from expected_runs e join wanted w on w.id = e.id and e.status = w.old
    order by e.id for update of e skip locked
)
update expected_runs e
set status = w.new, decided_by = %(by)s, start_by = w.start_by,
    status_at = case when w.new = w.old then e.status_at else %(now)s end,
    reason = case when w.new = w.old then coalesce(w.reason, e.reason) else w.reason end,
    task_run_id = coalesce(w.run_id, e.task_run_id), dagster_run_id = coalesce(w.dagster_run_id, e.dagster_run_id)
from wanted w, held h
where e.id = w.id and h.id = e.id and e.status = w.old
returning e.id, e.task, e.due_at, w.old as from_status, e.status as to_status, e.reason

-- name: open_task_alerts
-- Open alerts of no-shows and overruns, with what may end them.
select a.kind, a.subject, a.title, s.task, a.opened_at, last.status as last_status, last.due_at as last_due_at,
       last.task_run_id as last_run_id,
       (select r.id from task_runs r where r.task = s.task and r.outcome = 'ok' and r.started_at >= last.due_at
        order by r.started_at desc limit 1) is not null as ran_since,
       exists (select from task_schedules f where f.task = s.task and f.until_at is null) as in_force,
       exists (select from task_pauses p where p.task = s.task and p.from_at <= %(now)s
               and coalesce(least(p.until_at, p.ended_at), 'infinity') > %(now)s) as paused,
       exists (select from expected_runs e where e.task = s.task and e.status = 'overrunning') as overruns
from alerts a
cross join lateral (select substr(a.subject, 6) as task) s
left join lateral (
    select e.status, e.due_at, e.task_run_id from expected_runs e
    where e.task = s.task and e.due_at <= %(now)s
      and e.status not in ('expected', 'queued', 'paused', 'skipped-overlap')
    order by e.due_at desc limit 1
) last on true
where a.closed_at is null and a.kind in ('no-show', 'task-overrunning') and a.subject like 'task:%%'
order by a.id
