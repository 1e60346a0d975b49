-- name: find_raw
select id, body from raw_items where id = %(id)s

-- name: note_raw
select raw_id from distilled_notes where id = %(id)s

-- name: redact
select argus_redact(%(raw_id)s, %(start)s::int, %(end)s::int, %(replacement)s::text, %(actor)s::text, %(reason)s::text) as done

-- name: exported
select id, exported_at from distilled_notes where id = any(%(ids)s) and exported_at is not null order by id

-- name: dumps
-- Backups on disk that were made while the words were still there.
select path, finished_at from backups
where removed_at is null and path is not null and outcome <> 'failed' and finished_at <= %(now)s
order by finished_at desc

-- name: open_sweeps
select relation, max(xid::text::bigint)::text as xid, min(asked_at) as asked_at
from redaction_sweeps where swept_at is null group by relation order by relation

-- name: watchers_of_the_past
-- Sessions whose snapshot is older than the redaction: what they may still read cannot be taken away.
select count(*)::int as n
from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and backend_xmin is not null
  and age(backend_xmin) >= age((%(xid)s::text::xid8)::xid)

-- name: may_sweep
select to_regclass(%(relation)s) is not null
       and pg_has_role((select relowner from pg_class where oid = to_regclass(%(relation)s)), 'MEMBER') as may

-- name: mark_swept
update redaction_sweeps set swept_at = %(now)s where relation = %(relation)s and swept_at is null
