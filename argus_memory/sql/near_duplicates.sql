-- name: find_candidates
-- Earlier documents of the same project that share a band; the newest of many.
select f.raw_id, f.bands, f.signature, r.project
from document_fingerprints f
join raw_items r on r.id = f.raw_id
where f.bands && %(bands)s::bigint[] and f.raw_id <> all(%(raw_ids)s)
order by f.raw_id desc
limit 1000

-- name: insert_fingerprint
insert into document_fingerprints (raw_id, bands, shingles, signature)
values (%(raw_id)s, %(bands)s, %(shingles)s, %(signature)s)

-- name: insert_near_duplicate
insert into near_duplicates (raw_id, of_raw_id, similarity, at)
values (%(raw_id)s, %(of_raw_id)s, %(similarity)s, %(now)s)

-- name: skip_distilling
update distill_state
set status = 'skipped', last_error = 'near-duplicate of raw item ' || %(of_raw_id)s
where unit_kind = 'item' and unit_id = %(raw_id)s and status = 'pending'
