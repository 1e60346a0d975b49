-- name: claim_pass
select pg_try_advisory_xact_lock(hashtext('argus dedup')) as claimed

-- name: active_space
select id, dim, (thresholds ->> 'dedup_floor')::float8 as floor, (thresholds ->> 'dedup_same')::float8 as same
from embedding_spaces where status = 'active'

-- name: pending_notes
-- Newest first. A note waits for its vector, unless it can have none.
select n.id, n.uid, n.content, n.category, n.project, n.role, n.confidence, n.raw_id, n.said_at, n.valid_from,
       n.valid_to, n.context, n.pinned_at is not null as pinned, v.embedding
from distilled_notes n
left join note_vectors v on v.space_id = %(space_id)s and v.note_id = n.id
where {live_note} and n.deduped_at is null
  and (
      %(space_id)s::integer is null or v.note_id is not null
      or exists (
          select from embed_queue q
          where q.space_id = %(space_id)s and q.target = 'note' and q.target_id = n.id and q.attempts >= %(attempts)s
      )
  )
order by n.said_at desc, n.id desc
limit %(limit)s

-- name: count_undeduped
select count(*)::int as n from distilled_notes n where n.deleted_at is null and n.deduped_at is null

-- name: exact_repeats
-- Among notes that were looked at before: so every pair is looked at once, by the note whose turn comes second.
select n.id, n.uid, n.content, n.category, n.project, n.role, n.confidence, n.raw_id, n.said_at, n.valid_from,
       n.valid_to, n.context, n.pinned_at is not null as pinned, null::float8 as similarity
from distilled_notes n
where {live_note} and n.uid = any(%(uids)s) and n.id <> %(id)s
  and n.category = %(category)s and n.project is not distinct from %(project)s and n.role is not distinct from %(role)s
  and n.deduped_at is not null
order by n.said_at, n.id

-- name: set_scan
select set_config('hnsw.iterative_scan', 'strict_order', true), set_config('hnsw.max_scan_tuples', '5000', true)

-- name: lock_notes
select n.id, n.uid, n.content, n.category, n.project, n.role, n.confidence, n.raw_id, n.said_at, n.valid_from,
       n.valid_to, n.context, n.pinned_at is not null as pinned, n.deleted_at, n.deduped_at
from distilled_notes n
where n.id = any(%(ids)s)
order by n.id
for update

-- name: mark_deduped
update distilled_notes set deduped_at = %(now)s where id = %(id)s

-- name: tombstone
update distilled_notes
set deleted_at = %(now)s, deleted_reason = %(reason)s, superseded_by = %(stays)s, valid_to = %(valid_to)s,
    deduped_at = %(now)s
where id = %(gone)s and deleted_at is null

-- name: set_confidence
update distilled_notes set confidence = %(confidence)s where id = %(id)s

-- name: insert_verdict
insert into dedup_log (
    pass_id, note_id, other_id, verdict, similarity, same_fact, model, status, reasoning, confidence_before,
    confidence_after, valid_to_before, at
)
values (
    %(pass_id)s, %(note_id)s, %(other_id)s, %(verdict)s, %(similarity)s, %(same_fact)s, %(model)s, %(status)s,
    %(reasoning)s, %(confidence_before)s, %(confidence_after)s, %(valid_to_before)s, %(now)s
)
returning id

-- name: revive_orphans
-- Notes whose stand-in was not made again of its source stand for themselves again.
update distilled_notes n
set deleted_at = null, deleted_reason = null, superseded_by = null,
    valid_to = case when n.deleted_reason = 'superseded' then null else n.valid_to end
from distilled_notes s
where n.deleted_at is not null and n.deduped_at is null and n.superseded_by is not null
  and n.deleted_reason in ('duplicate', 'refined', 'superseded')
  and s.id = n.superseded_by and s.deleted_reason = 'redistilled'
returning n.id, s.id as stand_in

-- name: log_revival
update dedup_log
set status = 'undone', decided_by = 'redistilled', decided_at = %(now)s
where status in ('applied', 'approved') and verdict <> 'distinct'
  and ((verdict = 'duplicate' and note_id = %(id)s and other_id = %(stand_in)s)
       or (verdict <> 'duplicate' and other_id = %(id)s and note_id = %(stand_in)s))
