-- name: find_space
select id, model, dim, checksum, status, thresholds, calibration from embedding_spaces
where model = %(model)s and dim = %(dim)s and checksum = %(checksum)s;

-- name: active_space
select id, model, dim, checksum, status, thresholds, calibration from embedding_spaces where status = 'active';

-- name: lock_spaces
-- One process at a time registers or switches spaces.
select pg_advisory_xact_lock(hashtext('argus embedding spaces'));

-- name: insert_space
insert into embedding_spaces (model, dim, checksum, status, thresholds, calibration, activated_at)
values (%(model)s, %(dim)s, %(checksum)s, %(status)s, %(thresholds)s, %(calibration)s,
        case when %(status)s = 'active' then %(now)s::timestamptz end)
returning id;

-- name: set_space_status
update embedding_spaces
set status = %(status)s, activated_at = case when %(status)s = 'active' then %(now)s else activated_at end
where id = %(space)s;

-- name: retire_others
-- What is still being built for a model that is no longer wanted.
update embedding_spaces set status = 'retired' where status = 'building' and id <> %(space)s returning id;

-- name: retire_active
update embedding_spaces set status = 'retired' where status = 'active' and id <> %(space)s returning id;

-- name: drop_retired_queue
delete from embed_queue q using embedding_spaces s where s.id = q.space_id and s.status = 'retired';

-- name: queue_missing
insert into embed_queue (space_id, target, target_id)
select %(space)s, 'turn', t.raw_id from turns t
where t.project is distinct from 'argus-canary'
  and not exists (select from turn_vectors v where v.space_id = %(space)s and v.raw_id = t.raw_id)
union all
select %(space)s, 'note', n.id from distilled_notes n
where n.deleted_at is null
  and not exists (select from note_vectors v where v.space_id = %(space)s and v.note_id = n.id)
on conflict do nothing;

-- name: count_queue
select count(*) filter (where attempts < %(attempts)s)::int as waiting,
       count(*) filter (where attempts >= %(attempts)s)::int as parked
from embed_queue where space_id = %(space)s;

-- name: waiting_turns
-- Newest first: today's conversation never waits for an import of last year's.
select q.target_id as id from embed_queue q join turns t on t.raw_id = q.target_id
where q.space_id = %(space)s and q.target = 'turn' and q.attempts < %(attempts)s
order by t.said_at desc, t.raw_id desc limit %(limit)s;

-- name: waiting_notes
select q.target_id as id from embed_queue q join distilled_notes n on n.id = q.target_id
where q.space_id = %(space)s and q.target = 'note' and q.attempts < %(attempts)s
order by n.said_at desc, n.id desc limit %(limit)s;

-- name: claim_turns
select q.target_id as id, left(r.body, %(chars)s) as body, t.role, t.speaker
from embed_queue q
join turns t on t.raw_id = q.target_id
join raw_items r on r.id = t.raw_id
where q.space_id = %(space)s and q.target = 'turn' and q.target_id = any(%(ids)s)
order by q.target_id
for update of q skip locked;

-- name: claim_notes
select q.target_id as id, n.title, left(n.content, %(chars)s) as content, n.deleted_at is not null as dead
from embed_queue q
join distilled_notes n on n.id = q.target_id
where q.space_id = %(space)s and q.target = 'note' and q.target_id = any(%(ids)s)
order by q.target_id
for update of q skip locked;

-- name: insert_turn_vector
insert into turn_vectors (space_id, raw_id, dim, embedding)
values (%(space)s, %(id)s, %(dim)s, %(embedding)s)
on conflict (space_id, raw_id) do update set embedding = excluded.embedding, dim = excluded.dim;

-- name: insert_note_vector
insert into note_vectors (space_id, note_id, dim, embedding)
values (%(space)s, %(id)s, %(dim)s, %(embedding)s)
on conflict (space_id, note_id) do update set embedding = excluded.embedding, dim = excluded.dim;

-- name: unqueue
delete from embed_queue where space_id = %(space)s and target = %(target)s and target_id = any(%(ids)s);

-- name: count_attempt
update embed_queue set attempts = attempts + 1, last_error = %(error)s
where space_id = %(space)s and target = %(target)s and target_id = any(%(ids)s);

-- name: retired_vector_counts
select s.id, s.model,
       (select count(*) from turn_vectors v where v.space_id = s.id)::int as turns,
       (select count(*) from note_vectors v where v.space_id = s.id)::int as notes
from embedding_spaces s where s.status = 'retired' order by s.id;

-- name: delete_turn_vectors
delete from turn_vectors where space_id = %(space)s;

-- name: delete_note_vectors
delete from note_vectors where space_id = %(space)s;

-- name: retry_embedding
-- Five more tries for an item that could not be embedded.
update embed_queue q set attempts = 0
from embedding_spaces e
where e.id = q.space_id and e.status = 'active' and q.target = %(target)s and q.target_id = %(id)s
  and q.attempts >= %(attempts)s
returning q.target_id
