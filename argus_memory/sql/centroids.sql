-- name: spaces
select id, dim, thresholds from embedding_spaces where status = 'active'

-- name: fresh_sums
-- Per project: the sum of the vectors of its turns beyond its mark, and the new mark. Filed by a machine does not count.
select p.id as project_id, sum(v.embedding)::real[] as sums, count(*)::int as turns, max(v.raw_id) as last_turn_id
from turn_vectors v
join turns t on t.raw_id = v.raw_id
join projects p on p.name = t.project
left join project_centroids c on c.project_id = p.id and c.space_id = %(space)s
where v.space_id = %(space)s and v.raw_id > %(after)s and v.raw_id > coalesce(c.last_turn_id, 0)
  and p.name not in ('global', 'argus-canary')
  and not exists (select from project_attributions a where a.episode_id = t.episode_id and a.method = 'classified')
group by p.id

-- name: least_mark
-- Nothing beyond it was counted yet anywhere; the index on vectors is walked from here.
select coalesce(max(last_turn_id), 0) as id from project_centroids where space_id = %(space)s

-- name: add_sums
insert into project_centroids (project_id, space_id, sums, turns, last_turn_id, rebuilt_at)
values (%(project_id)s, %(space)s, %(sums)s, %(turns)s, %(last_turn_id)s, %(now)s)
on conflict (project_id, space_id) do update
set sums = (select array_agg(a + b order by n) from unnest(project_centroids.sums, excluded.sums)
                with ordinality as u (a, b, n)),
    turns = project_centroids.turns + excluded.turns, last_turn_id = excluded.last_turn_id

-- name: forget_sums
delete from project_centroids where space_id = %(space)s

-- name: centroids
select p.name, c.sums, c.turns, c.rebuilt_at from project_centroids c join projects p on p.id = c.project_id
where c.space_id = %(space)s and p.merged_into is null and c.turns >= %(least)s

-- name: unfiled
-- Closed episodes without a project that nobody looked at since the centroids were rebuilt, and whose turns all have
-- their vectors.
select e.id, sum(v.embedding)::real[] as sums
from episodes e join turns t on t.episode_id = e.id join turn_vectors v on v.raw_id = t.raw_id and v.space_id = %(space)s
where e.project is null and e.replaced_at is null
  and not exists (select from project_attributions a
                  where a.episode_id = e.id and (a.method in ('assigned', 'kept', 'classified') or a.at >= %(since)s))
group by e.id, e.turn_count
having count(*) = e.turn_count
order by e.id
limit %(limit)s

-- name: filed
-- Episodes that a folder or repository filed, newest first, for the audit of mismatches.
select e.id, e.project, sum(v.embedding)::real[] as sums
from episodes e join turns t on t.episode_id = e.id join turn_vectors v on v.raw_id = t.raw_id and v.space_id = %(space)s
where e.project is not null and e.project not in ('global', 'argus-canary') and e.replaced_at is null
  and e.project_method in ('cwd', 'repo') and e.id > %(after)s
  and not exists (select from project_attributions a where a.episode_id = e.id)
group by e.id, e.project
order by e.id
limit %(limit)s

-- name: set_attribution
insert into project_attributions (episode_id, project, method, similarity, margin, space_id, at, actor)
values (%(episode_id)s, %(project)s, %(method)s, %(similarity)s, %(margin)s, %(space)s, %(now)s, %(actor)s)
on conflict (episode_id) do update
set project = excluded.project, method = excluded.method, similarity = excluded.similarity, margin = excluded.margin,
    space_id = excluded.space_id, at = excluded.at, actor = excluded.actor
where excluded.method in ('assigned', 'kept') or project_attributions.method not in ('assigned', 'kept')

-- name: file_episode
update episodes
set project = %(project)s, project_method = %(method)s, project_confidence = %(confidence)s
where id = %(episode_id)s and (project is null or %(method)s = 'assigned')

-- name: file_turns
update turns set project = %(project)s
where episode_id = %(episode_id)s and (project is null or %(method)s = 'assigned') and project is distinct from %(project)s

-- name: file_notes
update distilled_notes set project = %(project)s
where episode_id = %(episode_id)s and (project is null or (%(method)s = 'assigned' and project <> 'global'))
  and project is distinct from %(project)s

-- name: file_state
update distill_state set project = %(project)s where unit_kind = 'episode' and unit_id = %(episode_id)s

-- name: forget_mismatches
delete from project_mismatches where %(episode_id)s::bigint is null or episode_id = %(episode_id)s

-- name: set_mismatch
insert into project_mismatches (episode_id, project, suggested, similarity, margin, at)
values (%(episode_id)s, %(project)s, %(suggested)s, %(similarity)s, %(margin)s, %(now)s)
on conflict (episode_id) do update
set project = excluded.project, suggested = excluded.suggested, similarity = excluded.similarity,
    margin = excluded.margin, at = excluded.at

-- name: mismatches
select m.episode_id, m.project, m.suggested, m.similarity, m.margin, m.at, e.session, e.started_at, e.turn_count,
       (select left(r.body, 200) from raw_items r where r.id = e.first_raw_id) as begins
from project_mismatches m join episodes e on e.id = m.episode_id
where e.replaced_at is null
order by m.margin desc, m.episode_id
limit %(limit)s

-- name: lock_episode
select id, project, project_method, replaced_at from episodes where id = %(id)s for update

-- name: follow_turns
update turns t set project = p.name from project_aliases a join projects p on p.id = a.project_id
where t.project = a.alias and p.merged_into is null

-- name: follow_episodes
update episodes t set project = p.name from project_aliases a join projects p on p.id = a.project_id
where t.project = a.alias and p.merged_into is null

-- name: follow_notes
update distilled_notes t set project = p.name from project_aliases a join projects p on p.id = a.project_id
where t.project = a.alias and p.merged_into is null
