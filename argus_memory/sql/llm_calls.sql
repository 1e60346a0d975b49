-- name: insert_call
insert into llm_calls (
    stage, unit_kind, unit_id, model, model_real, tier, prompt_tokens, completion_tokens, cost_usd, milliseconds,
    outcome, status_code, detail, run_id, trace_id
)
values (
    %(stage)s, %(unit_kind)s, %(unit_id)s, %(model)s, %(model_real)s, %(tier)s, %(prompt_tokens)s,
    %(completion_tokens)s, %(cost_usd)s, %(milliseconds)s, %(outcome)s, %(status_code)s, %(detail)s, %(run_id)s,
    %(trace_id)s
)

-- name: spent_last_hour
select count(*) as calls, coalesce(sum(coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0)), 0)::bigint as tokens
from llm_calls
where stage = %(stage)s and at > clock_timestamp() - interval '1 hour'
