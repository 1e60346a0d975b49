-- name: overruled
-- Of live notes: the later live note of a supersession that waits for a person.
select l.other_id as old_id, n.id, n.raw_id, n.project, n.title, n.content, n.said_at
from dedup_log l join distilled_notes n on n.id = l.note_id
where l.other_id = any(%(ids)s) and l.status = 'pending' and l.verdict = 'supersede' and {live_note}
order by l.other_id, n.said_at desc, n.id desc
