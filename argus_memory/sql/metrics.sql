-- name: captures
select source, kind, count(*)::bigint as n from raw_items group by source, kind

-- name: capture_outcomes
select outcome, coalesce(reason, '') as reason, sum(count)::bigint as n from capture_outcomes group by 1, 2

-- name: passes
select stage, outcome, count(*)::bigint as n, sum(extract(epoch from finished_at - started_at))::float8 as seconds,
       max(finished_at) as last_at
from stage_passes group by stage, outcome

-- name: gate
select 'accepted' as outcome, '' as reason, count(*)::bigint as n from distilled_notes
union all
select 'rejected', reason, count(*)::bigint from gate_rejections group by reason

-- name: notes
select case when n.deleted_at is not null then coalesce(n.deleted_reason, 'deleted') when n.excluded_at is not null then 'excluded'
            when n.valid_to <= %(now)s then 'ended' else 'live' end as state, count(*)::bigint as n
from distilled_notes n group by 1

-- name: recalls
-- Zero hits and gated recalls by reason; `seconds` of those whose time is known.
select case when prompt_mode then 'prompt' else 'context' end as mode, coalesce(skipped, 'shown') as outcome,
       count(*)::bigint as n, count(milliseconds)::bigint as timed, (sum(milliseconds) / 1000.0)::float8 as seconds
from injections group by 1, 2

-- name: recall_quantiles
select case when prompt_mode then 'prompt' else 'context' end as mode,
       (percentile_cont(array[0.5, 0.95, 0.99]) within group (order by milliseconds)) as values
from injections where at > %(since)s and milliseconds is not null group by 1

-- name: deliveries
select status, count(*)::bigint as n, min(created_at) filter (where status in ('pending', 'sending')) as oldest
from deliveries group by status

-- name: alerts
select kind, severity, count(*)::bigint as n from alerts where closed_at is null group by kind, severity

-- name: checks
select distinct on (name) name, status, at from health_samples where at > %(since)s order by name, at desc, id desc

-- name: beats
select watcher, at from watcher_beats

-- name: calls
select stage, coalesce(model_real, model) as model, outcome, count(*)::bigint as n, sum(prompt_tokens)::bigint as prompt,
       sum(completion_tokens)::bigint as completion, sum(cost_usd)::float8 as usd,
       count(*) filter (where cost_usd is null)::bigint as unknown
from llm_calls group by 1, 2, 3

-- name: task_runs
select task, coalesce(outcome, 'running') as outcome, count(*)::bigint as n from task_runs group by 1, 2

-- name: no_shows
select task, count(*)::bigint as n from expected_runs where status = 'missed' group by task

-- name: slos
select distinct on (slo) slo, value, threshold, status from slo_measurements where at > %(since)s order by slo, at desc, id desc
