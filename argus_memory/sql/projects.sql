-- name: find_by_keys
select k.key, p.name from project_keys k join projects p on p.id = k.project_id
where k.key = any(%(keys)s)

-- name: find_taken
-- Names that another repository owns; a project known only by a folder's name may be adopted by its repository.
select p.name from projects p
where p.name = any(%(names)s)
  and exists (select 1 from project_keys k where k.project_id = p.id)

-- name: insert_project
insert into projects (name, first_method) values (%(name)s, %(method)s) on conflict do nothing

-- name: insert_keys
insert into project_keys (key, project_id)
select key, p.id from unnest(%(keys)s::text[]) as key cross join projects p where p.name = %(name)s
on conflict do nothing
