-- name: episodes
select s.id, s.session, s.source, s.project, s.project_method, s.turn_count, s.started_at, s.ended_at, s.boundary_reason,
       s.closed_at, s.replaced_at, d.status as state, d.notes_created, d.notes_rejected, d.model_real, d.model, d.last_error,
       {key} as sort_key
from episodes s left join distill_state d on d.unit_kind = 'episode' and d.unit_id = s.id
where {after}
  and (%(project)s::text is null or s.project = %(project)s)
  and (%(session)s::text is null or s.session = %(session)s)
  and (%(state)s::text is null or (%(state)s = 'replaced') = (s.replaced_at is not null)
                                  and (%(state)s = 'replaced' or d.status = %(state)s))
order by {order} limit %(limit)s

-- name: count_episodes
select count(*)::int as total
from episodes s left join distill_state d on d.unit_kind = 'episode' and d.unit_id = s.id
where (%(project)s::text is null or s.project = %(project)s)
  and (%(session)s::text is null or s.session = %(session)s)
  and (%(state)s::text is null or (%(state)s = 'replaced') = (s.replaced_at is not null)
                                  and (%(state)s = 'replaced' or d.status = %(state)s))

-- name: episode
select e.*, d.status as state, d.notes_created, d.notes_rejected, d.model as distill_model, d.model_real, d.last_error,
       d.last_error_class, d.content_failures, d.distilled_at as distilled
from episodes e left join distill_state d on d.unit_kind = 'episode' and d.unit_id = e.id
where e.id = %(id)s

-- name: episode_turns
select t.raw_id, t.role, t.said_at, t.ordinal, left(r.body, 3000) as body, length(r.body) as length, w.reason as withheld
from turns t join raw_items r on r.id = t.raw_id left join withheld_turns w on w.raw_id = t.raw_id
where t.episode_id = %(id)s
order by t.ordinal limit %(limit)s

-- name: episode_checks
-- Boundaries that were asked about between this episode's first turn and the end of it, in the order of the turns.
select c.id, c.before_raw_id, c.after_raw_id, c.reason, c.score, c.threshold, c.fired, c.status, c.at
from segment_checks c
where c.session = %(session)s
  and (c.episode_id = %(id)s or c.after_raw_id in (select raw_id from turns where episode_id = %(id)s))
order by coalesce(c.after_raw_id, c.before_raw_id), c.id limit %(limit)s

-- name: episode_accepted
select n.id, n.title, n.content, n.category, n.importance, n.confidence, n.raw_id, n.source_ref, n.deleted_at,
       n.deleted_reason, n.superseded_by, n.model
from distilled_notes n where n.episode_id = %(id)s order by n.id limit %(limit)s

-- name: episode_rejected
select g.id, g.title, g.content, g.source_ref, g.reason, g.detail, g.raw_id, g.model, g.at
from gate_rejections g where g.unit_kind = 'episode' and g.unit_id = %(id)s order by g.id limit %(limit)s

-- name: episode_calls
select c.id, c.at, c.model, c.model_real, c.outcome, c.milliseconds, c.cost_usd, c.prompt_tokens, c.completion_tokens,
       c.run_id, c.trace_id
from llm_calls c where c.unit_kind = 'episode' and c.unit_id = %(id)s order by c.id desc limit %(limit)s
