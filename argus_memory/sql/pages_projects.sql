-- /ui/projects and /ui/projects/{name}. The canary's project is nobody's.

-- name: rows
select p.id, p.name, p.created_at, p.first_method, {key} as sort_key, coalesce(t.turns, 0) as turns, t.last_at,
       coalesce(e.episodes, 0) as episodes, coalesce(e.classified, 0) as classified, coalesce(n.notes, 0) as notes,
       coalesce((select array_agg(a.alias order by a.alias) from project_aliases a where a.project_id = p.id), '{}') as aliases
from projects p
left join (select project, count(*)::int as turns, max(said_at) as last_at from turns group by project) t
    on t.project = p.name
left join (select project, count(*)::int as episodes,
                  count(*) filter (where project_method = 'classified')::int as classified
           from episodes where replaced_at is null group by project) e on e.project = p.name
left join (select n.project, count(*)::int as notes from distilled_notes n where {live_note} group by n.project) n
    on n.project = p.name
where p.merged_into is null and p.name <> 'argus-canary'
  and (%(words)s::text is null or strpos(lower(p.name), lower(%(words)s::text)) > 0 or exists (
      select from project_aliases a where a.project_id = p.id and strpos(lower(a.alias), lower(%(words)s::text)) > 0))
  and {after}
order by {order} limit %(limit)s

-- name: count
select count(*)::int as total from projects p
where p.merged_into is null and p.name <> 'argus-canary'
  and (%(words)s::text is null or strpos(lower(p.name), lower(%(words)s::text)) > 0 or exists (
      select from project_aliases a where a.project_id = p.id and strpos(lower(a.alias), lower(%(words)s::text)) > 0))

-- name: methods
-- How episodes came to their project, and how sure that is; of one project or of all.
select coalesce(e.project_method, 'none') as method, count(*)::int as episodes, sum(e.turn_count)::int as turns,
       avg(e.project_confidence)::real as confidence, min(e.project_confidence)::real as least
from episodes e
where e.replaced_at is null and e.project is distinct from 'argus-canary'
  and (%(project)s::text is null or e.project = %(project)s)
group by 1 order by 2 desc, 1

-- name: words
-- Words of a project's latest notes that the rest of the memory uses rarely: the share of its notes that hold one, by
-- how rare it is among all notes. Words of one or two notes are not counted there, and weigh as those of two.
with own as materialized (
    select n.id, n.tsv from distilled_notes n
    where n.project = %(project)s and {live_note} order by n.id desc limit 400
), terms as (
    select term.lexeme, count(*)::int as notes from own cross join lateral unnest(own.tsv) as term
    where length(term.lexeme) between 3 and 30 and term.lexeme !~ '[0-9]{3}'
    group by term.lexeme
), all_notes as (
    select greatest(documents, 1)::float8 as documents from term_statistics where track = 'note'
)
select terms.lexeme as word, terms.notes, coalesce(f.documents, 2)::int as everywhere
from terms left join term_frequencies f on f.track = 'note' and f.term = terms.lexeme
order by terms.notes * ln(1 + coalesce((select documents from all_notes), 1) / coalesce(f.documents, 2)) desc, terms.lexeme
limit 30

-- name: centroids
-- All of the active space, to tell which projects read alike.
select p.name, c.sums, c.turns, c.rebuilt_at from project_centroids c
join projects p on p.id = c.project_id
join embedding_spaces s on s.id = c.space_id and s.status = 'active'
where p.merged_into is null and p.name not in ('global', 'argus-canary')
order by c.turns desc limit 200

-- name: bears
-- What bears a project's name and would follow a rename or merge.
select (select count(*)::int from turns where project = %(project)s) as turn,
       (select count(*)::int from episodes where project = %(project)s) as episode,
       (select count(*)::int from distilled_notes where project = %(project)s) as note,
       (select count(*)::int from note_decisions where project = %(project)s) as decision,
       (select count(*)::int from note_proposals where project = %(project)s) as proposal,
       (select count(*)::int from task_items where project = %(project)s) as item

-- name: recent_episodes
select e.id, e.session, e.started_at, e.turn_count, e.project_method, e.project_confidence
from episodes e where e.project = %(project)s and e.replaced_at is null order by e.started_at desc, e.id desc limit 10
