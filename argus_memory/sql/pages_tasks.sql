-- name: days
-- The due ledger by day of the viewer's zone, for each task: how many of each status.
select e.task, (e.due_at at time zone %(zone)s)::date as day, e.status, count(*)::int as n
from expected_runs e
where e.due_at >= %(since)s and e.due_at < %(until)s and (%(task)s::text is null or e.task = %(task)s)
group by 1, 2, 3

-- name: runs
select s.id, s.rid, s.task, s.started_by, s.due_at, s.dagster_run_id, s.host, s.started_at, s.finished_at, s.outcome,
       s.exit_code, s.signal, s.reason, s.cost_usd, s.engine, s.attempt, left(s.stdout_tail, 200) as said,
       {key} as sort_key
from task_runs s
where {after} and s.task = %(task)s and (%(outcome)s::text is null or s.outcome = %(outcome)s)
order by {order} limit %(limit)s

-- name: count_runs
select count(*)::int as total from task_runs s
where s.task = %(task)s and (%(outcome)s::text is null or s.outcome = %(outcome)s)

-- name: last_runs
-- For the plots: the newest runs that ended.
select s.id, s.started_at, s.finished_at, s.outcome, s.cost_usd
from task_runs s where s.task = %(task)s and s.finished_at is not null
order by s.started_at desc limit %(limit)s

-- name: run
select s.*, e.status as due_status, e.start_by, e.reason as due_reason
from task_runs s left join expected_runs e on e.task_run_id = s.id
where s.task = %(task)s and s.id = %(id)s

-- name: run_calls
-- Attempts of engines during this run.
select a.id, a.turn, a.place, a.engine, a.model, a.started_at, a.finished_at, a.outcome, a.reason, a.cost_usd,
       a.prompt_tokens, a.completion_tokens
from engine_attempts a where a.rid = %(rid)s order by a.id limit 100

-- name: task_alerts
select a.id, a.kind, a.severity, a.title, a.opened_at, a.closed_at from alerts a
where a.subject = %(subject)s order by a.opened_at desc limit 20

-- name: task_pauses
select p.from_at, p.until_at, p.ended_at, p.actor, p.ended_by, p.reason from task_pauses p
where p.task = %(task)s order by p.from_at desc limit 20

-- name: known
select name, problem, first_seen_at, changed_at, removed_at from tasks where name = %(task)s

-- name: todos
select s.id, s.text, s.project, s.status, s.due_on, s.said_at, s.status_at, s.source_ref, s.raw_id, s.note_id,
       (select jsonb_agg(jsonb_build_object('at', v.at, 'from', v.from_status, 'to', v.to_status, 'evidence', v.evidence,
                                            'evidence_id', v.evidence_id, 'quote', left(v.quote, 300), 'method', v.method,
                                            'score', v.score) order by v.id)
        from (select * from task_events v where v.item_id = s.id order by v.id desc limit 8) v) as events,
       {key} as sort_key
from task_items s
where {after} and (%(status)s::text is null or s.status = %(status)s)
  and (%(status)s::text is not null or s.status in ('open', 'claimed-done', 'stale'))
  and (%(project)s::text is null or s.project = %(project)s)
order by {order} limit %(limit)s

-- name: count_todos
select count(*)::int as total from task_items s
where (%(status)s::text is null or s.status = %(status)s)
  and (%(status)s::text is not null or s.status in ('open', 'claimed-done', 'stale'))
  and (%(project)s::text is null or s.project = %(project)s)

-- name: run_state
-- The newest run of a task as far as a page follows it.
select id, outcome, started_at, beat_at, finished_at from task_runs where task = %(task)s order by started_at desc limit 1
