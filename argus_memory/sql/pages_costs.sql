-- name: spent
-- Calls by day, stage and model: of models and of engines (`api` keeps its books in llm_calls). Days begin at midnight of
-- the viewer's zone. `usd` is null where no call's cost is known; `unknown` counts those whose is not.
select c.day, c.stage, c.model, c.via, count(*)::int as calls, count(*) filter (where c.failed)::int as failed,
       sum(c.prompt_tokens)::bigint as prompt_tokens, sum(c.completion_tokens)::bigint as completion_tokens,
       sum(c.cost_usd)::float8 as usd, count(*) filter (where c.cost_usd is null)::int as unknown
from (
    select (at at time zone %(zone)s)::date as day, stage, coalesce(model_real, model) as model, 'model' as via,
           outcome <> 'ok' as failed, prompt_tokens, completion_tokens, cost_usd::numeric
    from llm_calls where at >= %(since)s and at < %(until)s
    union all
    select (finished_at at time zone %(zone)s)::date, coalesce('task ' || task, stage, 'ask'), coalesce(model, engine),
           engine, outcome <> 'ok', prompt_tokens, completion_tokens, cost_usd
    from engine_attempts
    where finished_at >= %(since)s and finished_at < %(until)s and outcome <> 'left-alone' and engine <> 'api'
) c
group by c.day, c.stage, c.model, c.via

-- name: model_calls
select s.id, s.at, s.stage, s.unit_kind, s.unit_id, s.model, s.model_real, s.tier, s.prompt_tokens, s.completion_tokens,
       s.cost_usd, s.milliseconds, s.outcome, s.status_code, left(s.detail, 400) as detail, s.run_id, s.trace_id,
       {key} as sort_key
from llm_calls s
where {after}
  and (%(stage)s::text is null or s.stage = %(stage)s)
  and (%(model)s::text is null or coalesce(s.model_real, s.model) = %(model)s)
  and (%(outcome)s::text is null or s.outcome = %(outcome)s)
order by {order} limit %(limit)s

-- name: count_model_calls
select count(*)::int as total from llm_calls s
where (%(stage)s::text is null or s.stage = %(stage)s)
  and (%(model)s::text is null or coalesce(s.model_real, s.model) = %(model)s)
  and (%(outcome)s::text is null or s.outcome = %(outcome)s)
