-- name: unread_notes
-- Live notes that were not looked through yet, oldest first; what their raw item says of its repository.
select n.id, n.content, n.source_ref, n.created_at, r.metadata #>> '{repo,common_dir}' as common_dir,
       case when r.captured_at - r.said_at < %(fresh)s then r.metadata #>> '{repo,commit}' end as commit
from distilled_notes n join raw_items r on r.id = n.raw_id
where n.id > %(after)s and n.redacted_at is null
order by n.id
limit %(limit)s

-- name: read_to
select value::bigint as id from store_settings where key = 'note_files_read_to'

-- name: set_read_to
insert into store_settings (key, value, changed_at) values ('note_files_read_to', %(id)s::bigint::text, %(now)s)
on conflict (key) do update set value = excluded.value, changed_at = excluded.changed_at

-- name: insert_file
insert into note_files (note_id, path, repo, commit, noticed_at)
values (%(note_id)s, %(path)s, %(repo)s, %(commit)s, %(now)s)
on conflict (note_id, path) do nothing

-- name: to_check
-- Of live notes, what was not asked for longest.
select f.note_id, f.path, f.repo, f.commit
from note_files f join distilled_notes n on n.id = f.note_id
where {live_note} and f.commit is not null and f.repo is not null
  and (f.checked_at is null or f.checked_at < %(before)s)
order by f.checked_at nulls first, f.note_id, f.path
limit %(limit)s

-- name: set_checked
update note_files set checked_at = %(now)s, said = %(said)s, changed_on = %(changed_on)s
where note_id = %(note_id)s and path = %(path)s

-- name: files_of
select path, repo, commit, noticed_at, checked_at, said, changed_on from note_files where note_id = %(id)s order by path

-- name: reconfirm_files
-- The note holds as of the commit that is checked out now: where that is not known, nothing is said any more.
update note_files set commit = %(commit)s, checked_at = null, said = null, changed_on = null
where note_id = %(id)s and repo = %(repo)s
