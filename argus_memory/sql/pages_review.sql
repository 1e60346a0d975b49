-- name: waiting
-- All that waits for a person, in one list. `key` is unique over the four kinds.
with s as (
    select l.id * 4 as id, 'merges' as kind, l.id as item, l.at, l.verdict as what, l.note_id, l.other_id, n.content as text,
           o.content as other, n.project, null as actor, l.reasoning as reason, l.similarity, l.model,
           n.said_at, o.said_at as other_said_at, n.confidence, o.confidence as other_confidence,
           o.pinned_at is not null as pinned, n.deleted_reason as gone, o.deleted_reason as other_gone, l.auto_at,
           null::jsonb as detail
    from dedup_log l join distilled_notes n on n.id = l.note_id join distilled_notes o on o.id = l.other_id
    where l.status = 'pending'
    union all
    select d.id * 4 + 1, 'decisions', d.id, d.at, d.decision, d.note_id, null, d.new_text, d.content, d.project, d.actor,
           d.reason, null, null, null, n.said_at, null, n.confidence, n.pinned_at is not null, null, n.deleted_reason, null,
           null
    from note_decisions d left join distilled_notes n on n.id = d.note_id
    where d.status = 'held'
    union all
    select p.id * 4 + 2, 'proposals', p.id, p.at, 'create', null, p.disputes, p.content, n.content, p.project, p.actor,
           p.reason, null, null, r.said_at, n.said_at, null, n.confidence, n.pinned_at is not null, null, n.deleted_reason,
           p.auto_at, null
    from note_proposals p join raw_items r on r.id = p.raw_id left join distilled_notes n on n.id = p.disputes
    where p.status = 'pending'
    union all
    select g.id * 4 + 3, 'regenerations', g.id, coalesce(g.finished_at, g.started_at), g.mode, null, null, null, null, null,
           g.actor, g.error, g.loss, g.model, null, null, null, null, null, null, null, null,
           g.counts || jsonb_build_object('first_day', g.first_day, 'last_day', g.last_day)
    from regenerations g where g.status = 'held'
)
select s.*, {key} as sort_key from s
where {after} and (%(kind)s::text is null or s.kind = %(kind)s)
  and (%(project)s::text is null or s.project = %(project)s)
order by {order} limit %(limit)s

-- name: count_waiting
select count(*)::int as total from (
    select 'merges' as kind, n.project from dedup_log l join distilled_notes n on n.id = l.note_id where l.status = 'pending'
    union all select 'decisions', project from note_decisions where status = 'held'
    union all select 'proposals', project from note_proposals where status = 'pending'
    union all select 'regenerations', null from regenerations where status = 'held'
) s
where (%(kind)s::text is null or s.kind = %(kind)s) and (%(project)s::text is null or s.project = %(project)s)

-- name: settled
-- Merges that were carried out or turned down, by a person or by the rules: each can be taken back.
select s.id, s.at, s.verdict, s.note_id, s.other_id, s.status, s.similarity, s.model, s.reasoning, s.decided_by, s.decided_at,
       s.auto_at, n.content as text, o.content as other, n.project, n.deleted_reason as gone,
       o.deleted_reason as other_gone, {key} as sort_key
from dedup_log s join distilled_notes n on n.id = s.note_id join distilled_notes o on o.id = s.other_id
where {after} and s.verdict <> 'distinct' and s.status <> 'pending'
  and (%(status)s::text is null or s.status = %(status)s)
  and (%(project)s::text is null or n.project = %(project)s)
order by {order} limit %(limit)s

-- name: count_settled
select count(*)::int as total from dedup_log s join distilled_notes n on n.id = s.note_id
where s.verdict <> 'distinct' and s.status <> 'pending' and (%(status)s::text is null or s.status = %(status)s)
  and (%(project)s::text is null or n.project = %(project)s)

-- name: kinds
select (select count(*)::int from dedup_log where status = 'pending') as merges,
       (select count(*)::int from note_decisions where status = 'held') as decisions,
       (select count(*)::int from note_proposals where status = 'pending') as proposals,
       (select count(*)::int from regenerations where status = 'held') as regenerations
