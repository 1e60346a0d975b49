-- name: last_of_tasks
-- Of each task: the last occurrence that something was decided of, and the last run that was neither skipped nor is
-- still to be tried again, with the MCP servers its engines could not load.
select n.name, e.status, e.due_at, e.reason as due_reason, r.rid, r.outcome, r.reason as run_reason, r.finished_at,
       coalesce(t.known, false) as tools_known, t.errors as tool_errors
from unnest(%(names)s::text[]) as n (name)
left join lateral (
    select status, due_at, reason from expected_runs
    where task = n.name and status not in ('expected', 'queued', 'paused', 'skipped-overlap')
    order by due_at desc limit 1) e on true
left join lateral (
    select rid, outcome, reason, finished_at from task_runs
    where task = n.name and finished_at is not null and outcome <> 'skipped'
      and (outcome = 'ok' or retries_left = 0)
    order by started_at desc limit 1) r on true
left join lateral (
    select bool_or(a.outcome = 'ok') as known,
           jsonb_agg(m.error) filter (where m.error is not null) as errors
    from engine_attempts a
    left join lateral jsonb_array_elements(
        case when jsonb_typeof(a.mcp_errors) = 'array' then a.mcp_errors end) as m (error) on true
    where a.rid = r.rid) t on r.rid is not null
order by n.name
