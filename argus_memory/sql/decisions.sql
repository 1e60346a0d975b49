-- name: lock_note
select n.id, n.uid, n.text_key, n.content, n.category, n.project, n.role, n.confidence, n.raw_id, n.source_start,
       n.source_end, n.pinned_at, n.excluded_at, n.confirmed_at, n.deleted_at, n.deleted_reason, n.superseded_by
from distilled_notes n
where n.id = %(id)s
for update

-- name: insert_decision
insert into note_decisions (
    at, decision, status, uid, text_key, content, category, project, note_id, raw_id, source_start, source_end,
    new_text, new_note_id, arrival, actor, actor_kind, reason
)
values (
    %(now)s, %(decision)s, %(status)s, %(uid)s, %(text_key)s, %(content)s, %(category)s, %(project)s, %(note_id)s,
    %(raw_id)s, %(source_start)s, %(source_end)s, %(new_text)s, %(new_note_id)s, %(arrival)s, %(actor)s,
    %(actor_kind)s, %(reason)s
)
returning id

-- name: overtake
-- Earlier decisions of the same kind on the same fact: on its uid, and where a fact comes back, on its text.
update note_decisions
set status = 'overtaken', decided_by = %(actor)s, decided_at = %(now)s
where status = 'in-force' and decision = any(%(decisions)s) and id <> %(id)s
  and (uid = %(uid)s or (%(by_text)s and text_key = %(text_key)s))

-- name: pin
update distilled_notes set pinned_at = %(now)s where id = %(id)s

-- name: unpin
update distilled_notes set pinned_at = null where id = %(id)s

-- name: exclude
-- Dedup has nothing to do with a note that no recall shows.
update distilled_notes set excluded_at = %(now)s, deduped_at = coalesce(deduped_at, %(now)s) where id = %(id)s

-- name: include
update distilled_notes set excluded_at = null, deduped_at = null where id = %(id)s

-- name: forget
update distilled_notes
set deleted_at = %(now)s, deleted_reason = 'forgotten', superseded_by = null, deduped_at = %(now)s
where id = %(id)s

-- name: restore
-- Dedup looks at it again: another note may have taken its place meanwhile.
update distilled_notes
set deleted_at = null, deleted_reason = null, superseded_by = null, deduped_at = null
where id = %(id)s

-- name: confirm
update distilled_notes set confirmed_at = %(now)s where id = %(id)s
