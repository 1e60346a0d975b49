-- name: by_name
select id, name, merged_into from projects where name = %(name)s for update

-- name: by_id
select id, name, merged_into from projects where id = %(id)s for update

-- name: list
select p.id, p.name, p.created_at, p.first_method, p.renamed_at,
       (select count(*)::int from project_keys k where k.project_id = p.id) as keys,
       coalesce((select array_agg(a.alias order by a.alias) from project_aliases a where a.project_id = p.id), '{}') as aliases,
       coalesce(t.turns, 0) as turns, t.last_at, coalesce(e.episodes, 0) as episodes, coalesce(e.classified, 0) as classified,
       coalesce(n.notes, 0) as notes
from projects p
left join (select project, count(*)::int as turns, max(said_at) as last_at from turns group by project) t
    on t.project = p.name
left join (select project, count(*)::int as episodes,
                  count(*) filter (where project_method = 'classified')::int as classified
           from episodes where replaced_at is null group by project) e on e.project = p.name
left join (select n.project, count(*)::int as notes from distilled_notes n where {live_note} group by n.project) n
    on n.project = p.name
where p.merged_into is null and (%(name)s::text is null or p.name = %(name)s)
order by t.last_at desc nulls last, p.name

-- name: unfiled_counts
select count(*) filter (where a.method = 'unclear')::int as unclear,
       count(*) filter (where a.method is null)::int as not_looked_at
from episodes e left join project_attributions a on a.episode_id = e.id
where e.project is null and e.replaced_at is null

-- name: keys_of
select key from project_keys where project_id = %(id)s order by key

-- name: changes
select c.id, c.at, c.change, c.project, c.other, c.actor, c.detail, u.at as undone_at, u.actor as undone_by
from project_changes c
left join project_changes u on u.change = 'undone' and u.detail ->> 'change' = c.id::text
where (%(name)s::text is null or c.project = %(name)s or c.other = %(name)s)
order by c.id desc limit %(limit)s

-- name: lock_change
select c.id, c.change, c.project, c.other, c.detail,
       (select u.at from project_changes u where u.change = 'undone' and u.detail ->> 'change' = c.id::text) as undone_at
from project_changes c where c.id = %(id)s for update

-- name: insert_change
insert into project_changes (at, change, project, other, actor, detail)
values (%(now)s, %(change)s, %(project)s, %(other)s, %(actor)s, %(detail)s) returning id

-- name: rename
update projects set name = %(new)s, renamed_at = %(now)s where id = %(id)s

-- name: set_merged
update projects set merged_into = %(into)s where id = %(id)s

-- name: alias_of
select a.alias, p.name from project_aliases a join projects p on p.id = a.project_id where a.alias = %(alias)s

-- name: insert_alias
insert into project_aliases (alias, project_id, at, actor) values (%(alias)s, %(id)s, %(now)s, %(actor)s)
on conflict (alias) do update set project_id = excluded.project_id, at = excluded.at, actor = excluded.actor

-- name: delete_alias
delete from project_aliases where alias = %(alias)s

-- name: attach_name
-- What names the project outright leads to it.
insert into project_keys (key, project_id) values ('name:' || %(name)s, %(id)s)
on conflict (key) do update set project_id = excluded.project_id

-- name: detach_name
delete from project_keys where key = 'name:' || %(name)s and project_id = %(id)s

-- name: move_keys
with moved as (
    update project_keys set project_id = %(into)s where project_id = %(id)s returning key
)
insert into project_moves (change_id, kind, name) select %(change)s, 'key', key from moved

-- name: move_aliases
with moved as (
    update project_aliases set project_id = %(into)s where project_id = %(id)s returning alias
)
insert into project_moves (change_id, kind, name) select %(change)s, 'alias', alias from moved

-- name: restore_keys
update project_keys k set project_id = %(id)s from project_moves m
where m.change_id = %(change)s and m.kind = 'key' and k.key = m.name and k.project_id = %(into)s

-- name: restore_aliases
update project_aliases a set project_id = %(id)s from project_moves m
where m.change_id = %(change)s and m.kind = 'alias' and a.alias = m.name and a.project_id = %(into)s

-- name: rename_state
update distill_state set project = %(new)s where project = %(old)s
