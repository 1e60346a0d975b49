-- name: export_snapshot
select pg_export_snapshot() as snapshot

-- name: tables
select relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = 'public' and c.relkind in ('r', 'p') order by 1

-- name: fingerprint
-- Changes with every letter of every raw item, in whatever order they are read.
select count(*)::bigint as items,
       coalesce(sum(('x' || substr(md5(id || ' ' || body), 1, 8))::bit(32)::bigint), 0)::text as sum
from raw_items

-- name: revision
select version_num from alembic_version

-- name: insert_backup
insert into backups (started_at, finished_at, outcome, path, bytes, sha256, rows, revision, tried_at, error)
values (%(started_at)s, %(finished_at)s, %(outcome)s, %(path)s, %(bytes)s, %(sha256)s, %(rows)s, %(revision)s,
        %(tried_at)s, %(error)s)
returning id

-- name: mark_removed
update backups set removed_at = %(now)s where path = any(%(paths)s) and removed_at is null

-- name: list_backups
select id, started_at, finished_at, outcome, path, bytes, tried_at, error, removed_at, count(*) over ()::int as total
from backups order by id desc limit %(limit)s

-- name: latest
select (select max(finished_at) from backups where outcome = 'proven') as proven_at,
       (select max(finished_at) from backups where outcome <> 'failed') as made_at,
       (select outcome from backups order by id desc limit 1) as outcome,
       (select error from backups order by id desc limit 1) as error
