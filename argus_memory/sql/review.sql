-- name: list_held
select l.id, l.at, l.note_id, l.other_id, l.similarity, l.model, l.reasoning, l.status,
       n.content as note, n.said_at as note_said_at, n.confidence as note_confidence, n.project,
       o.content as other, o.said_at as other_said_at, o.confidence as other_confidence
from dedup_log l
join distilled_notes n on n.id = l.note_id
join distilled_notes o on o.id = l.other_id
where l.status = 'pending'
order by l.id desc
limit %(limit)s

-- name: lock_verdict
select id, note_id, other_id, verdict, status, confidence_before, confidence_after, valid_to_before, decided_by,
       decided_at
from dedup_log
where id = %(id)s
for update

-- name: lock_pair
select id, confidence, valid_from, valid_to, deleted_at, deleted_reason, superseded_by
from distilled_notes
where id = any(%(ids)s)
order by id
for update

-- name: supersede
update distilled_notes
set deleted_at = %(now)s, deleted_reason = 'superseded', superseded_by = %(note_id)s, valid_to = %(valid_to)s
where id = %(other_id)s

-- name: restore
update distilled_notes
set deleted_at = null, deleted_reason = null, superseded_by = null, valid_to = %(valid_to)s, deduped_at = %(now)s
where id = %(id)s

-- name: set_confidence
update distilled_notes set confidence = %(confidence)s where id = %(id)s

-- name: decide
update dedup_log
set status = %(status)s, decided_by = %(actor)s, decided_at = %(now)s, valid_to_before = %(valid_to_before)s
where id = %(id)s
