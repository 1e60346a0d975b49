-- name: note
select n.id, n.uid, n.title, n.content, n.category, n.importance, n.confidence, n.project, n.keywords, n.tags,
       n.context, n.links, n.source_ref, n.raw_id, n.episode_id, n.valid_from, n.valid_to, n.model, n.model_real,
       n.said_at, n.source_start, n.source_end, n.role, n.deleted_at, n.deleted_reason, n.superseded_by,
       n.excluded_at, r.source, r.kind, r.session, r.captured_at
from distilled_notes n join raw_items r on r.id = n.raw_id
where n.id = %(id)s

-- name: raw_item
select r.id, r.source, r.kind, r.body, r.session, r.cwd, r.project, r.project_method, r.project_confidence,
       r.metadata, r.said_at, r.captured_at, t.role, t.episode_id,
       (select d.of_raw_id from near_duplicates d where d.raw_id = r.id) as near_duplicate_of,
       coalesce((select jsonb_agg(jsonb_build_object('kind', x.kind, 'count', x.count) order by x.id)
                 from redactions x where x.raw_id = r.id), '[]') as redactions,
       coalesce((select jsonb_agg(n.id order by n.id) from distilled_notes n
                 where n.raw_id = r.id and {live_note}), '[]') as notes
from raw_items r left join turns t on t.raw_id = r.id
where r.id = %(id)s

-- name: episode
select e.id, case when e.replaced_at is null then 'closed' else 'replaced' end as state, e.session, e.source,
       e.project, e.project_method, e.project_confidence, e.cwd, e.first_raw_id, e.last_raw_id, e.turn_count,
       e.started_at, e.ended_at, e.day, e.boundary_reason, e.boundary_score, e.closed_at, e.distilled_at,
       e.replaced_at, e.replaced_reason,
       coalesce((select jsonb_agg(n.id order by n.id) from distilled_notes n
                 where n.episode_id = e.id and n.deleted_at is null), '[]') as notes
from episodes e
where e.id = %(id)s

-- name: episode_turns
select r.id as raw_id, t.role, t.speaker, r.body, r.said_at
from turns t join raw_items r on r.id = t.raw_id
where t.episode_id = %(id)s
order by t.ordinal, r.id

-- name: span_turns
-- Of an episode that was replaced: the turns between its first and its last one.
select r.id as raw_id, t.role, t.speaker, r.body, r.said_at
from episodes e
join turns f on f.raw_id = e.first_raw_id
join turns l on l.raw_id = e.last_raw_id
join turns t on t.session = e.session
    and (t.said_at, t.position, t.raw_id) between (f.said_at, f.position, f.raw_id)
                                              and (l.said_at, l.position, l.raw_id)
join raw_items r on r.id = t.raw_id
where e.id = %(id)s
order by t.said_at, t.position, t.raw_id
