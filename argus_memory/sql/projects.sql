-- name: lock_registry
-- Registrations are rare; one at a time keeps two new repositories of one name from meeting.
select pg_advisory_xact_lock(hashtext('argus projects'))

-- name: find_keys
select k.key, p.name
from project_keys k
join projects p on p.id = k.project_id
where k.key = any(%(keys)s)

-- name: find_folder
-- Projects of a repository's folder: on any machine where ours is unknown, else where the registered one is.
select distinct p.name
from project_keys k
join projects p on p.id = k.project_id
where starts_with(k.key, 'dir:') and right(k.key, length(%(folder)s)) = %(folder)s
  and (%(host)s = '' or k.key = 'dir:' || %(folder)s)

-- name: find_names
-- Registered projects of these names; a repository takes over a name that no other repository has.
select p.name,
       exists (select from project_keys k where k.project_id = p.id and k.key ~ '^(remote|dir):') as has_repository,
       exists (select from project_keys k where k.project_id = p.id and k.key like 'remote:%%') as has_remote
from projects p
where p.name = any(%(names)s)

-- name: insert_project
insert into projects (name, first_method) values (%(name)s, %(method)s) on conflict (name) do nothing

-- name: attach_keys
-- A folder can be given to another repository; any other key stays where it was first.
insert into project_keys (key, project_id)
select u.key, p.id
from unnest(%(keys)s::text[]) as u (key)
join projects p on p.name = %(name)s
on conflict (key) do update set project_id = excluded.project_id
where project_keys.key like 'dir:%%' and project_keys.project_id <> excluded.project_id

-- name: find_named
-- A project by its name or an alias; a merged one leads to where it went.
with recursive asked as (
    select id from projects where name = %(name)s
    union
    select project_id from project_aliases where alias = %(name)s
), up as (
    select p.* from projects p join asked on asked.id = p.id
    union
    select p.* from up join projects p on p.id = up.merged_into
)
select id, name, created_at, first_method, renamed_at from up where merged_into is null

-- name: all_names
-- Registered ones, their other names, and what rows bear without ever having been registered.
select name from projects where merged_into is null
union select alias from project_aliases
union select distinct project from turns where project is not null
union select distinct project from note_events where project is not null and event <> 'shown'
order by 1

-- name: has_rows
select exists (select from turns where project = %(name)s)
    or exists (select from distilled_notes where project = %(name)s)
    or exists (select from note_events where project = %(name)s and event <> 'shown') as known
