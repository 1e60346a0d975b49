-- name: insert_attempt
insert into engine_attempts (
    rid, task, stage, turn, place, engine, model, started_at, finished_at, outcome, reason, reset_at, exit_code,
    cost_usd, prompt_tokens, completion_tokens, session, mcp_errors, next_engine
)
values (
    %(rid)s, %(task)s, %(stage)s, %(turn)s, %(place)s, %(engine)s, %(model)s, %(started_at)s, %(finished_at)s,
    %(outcome)s, %(reason)s, %(reset_at)s, %(exit_code)s, %(cost_usd)s, %(prompt_tokens)s, %(completion_tokens)s,
    %(session)s, %(mcp_errors)s, %(next_engine)s
)

-- name: find_state
select capped_until, reason from engine_states where engine = %(engine)s

-- name: cap_engine
-- Two runs may find out at the same time; what was heard last holds.
insert into engine_states (engine, capped_until, reason, at)
values (%(engine)s, %(until)s, %(reason)s, %(now)s)
on conflict (engine) do update
set capped_until = excluded.capped_until, reason = excluded.reason, at = excluded.at
where engine_states.at <= excluded.at

-- name: clear_engine
-- No row changes where the engine was not capped, or was found capped after this answer.
update engine_states set capped_until = null, reason = null, at = %(now)s
where engine = %(engine)s and capped_until is not null and at <= %(now)s

-- name: spent_runtime_calls
select count(*)::int as calls from engine_attempts
where stage is not null and outcome <> 'left-alone' and finished_at > clock_timestamp() - interval '1 hour'

-- name: list_states
select engine, capped_until, reason, at from engine_states order by engine

-- name: list_attempts
select place, engine, model, turn, started_at, finished_at, outcome, reason, reset_at, exit_code, cost_usd,
       prompt_tokens, completion_tokens, session, mcp_errors, next_engine
from engine_attempts where rid = %(rid)s order by id
