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

-- name: in_force
-- What is in force about these facts: about their uid or text, or about a text that shares words with one of them.
-- `place` is the fact's, from 0; `shared` how many words it shares, null for a uid or text that is the same.
with asked as (
    select place - 1 as place, uid, text_key, project, tsvector_to_array(to_tsvector('english', content)) as words
    from unnest(%(uids)s::text[], %(text_keys)s::text[], %(projects)s::text[], %(contents)s::text[])
        with ordinality as a (uid, text_key, project, content, place)
)
select a.place::int, d.id, d.decision, d.uid, d.text_key, d.content, d.project, d.note_id, d.new_text, d.new_note_id,
       null::int as shared
from asked a join note_decisions d on d.status = 'in-force' and (d.uid = a.uid or d.text_key = a.text_key)
union all
select a.place::int, d.id, d.decision, d.uid, d.text_key, d.content, d.project, d.note_id, d.new_text, d.new_note_id,
       d.shared
from asked a cross join lateral (
    select c.*, cardinality(array(
        select unnest(tsvector_to_array(to_tsvector('english', c.content))) intersect select unnest(a.words)
    )) as shared
    from note_decisions c
    where c.decision in ('forget', 'reject', 'correct', 'redact', 'exclude') and c.status = 'in-force'
      and tsvector_to_array(to_tsvector('english', c.content)) && a.words
      and c.uid <> a.uid and c.text_key <> a.text_key
      and (c.project is not distinct from a.project or c.project is null or a.project is null
           or c.project = 'global' or a.project = 'global')
    order by shared desc, c.id desc limit %(limit)s
) d
order by place, shared desc nulls first, id

-- name: withhold
insert into withheld_turns (raw_id, note_id, reason, at)
select unnest(%(raw_ids)s::bigint[]), %(note_id)s, %(reason)s, %(now)s
on conflict do nothing

-- name: arrival_items
-- Which of these items belong to an arrival that was forgotten as a whole.
select distinct raw_id from withheld_turns where arrival is not null and raw_id = any(%(raw_ids)s)

-- name: carry_decisions
-- A note made anew bears what was decided of its fact before.
update distilled_notes n
set excluded_at = case when %(excluded)s then coalesce(n.excluded_at, %(now)s) else n.excluded_at end,
    pinned_at = case when %(pinned)s then coalesce(n.pinned_at, %(now)s) else n.pinned_at end,
    deduped_at = case when %(excluded)s then coalesce(n.deduped_at, %(now)s) else n.deduped_at end
where n.id = %(id)s
