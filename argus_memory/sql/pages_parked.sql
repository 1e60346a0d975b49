-- name: parked
-- Units that could not be distilled, and items that could not be embedded, in one list.
with s as (
    select d.unit_id * 4 + case d.unit_kind when 'episode' then 0 else 1 end as id, d.unit_kind as kind, d.unit_id as item,
           d.project, d.said_at as at, d.attempts, d.last_error_class as class, d.last_error as error,
           null::text as target,
           (select max(f.at) from distill_failures f where f.unit_kind = d.unit_kind and f.unit_id = d.unit_id) as failed_at
    from distill_state d where d.status = 'parked'
    union all
    select q.target_id * 4 + case q.target when 'note' then 2 else 3 end, 'embedding', q.target_id, null, q.queued_at,
           q.attempts, 'content', q.last_error, q.target, null
    from embed_queue q join embedding_spaces e on e.id = q.space_id and e.status = 'active'
    where q.attempts >= %(attempts)s
)
select s.*, {key} as sort_key from s
where {after} and (%(kind)s::text is null or s.kind = %(kind)s)
order by {order} limit %(limit)s

-- name: count_parked
select count(*)::int as total from (
    select unit_kind as kind from distill_state where status = 'parked'
    union all
    select 'embedding' from embed_queue q join embedding_spaces e on e.id = q.space_id and e.status = 'active'
    where q.attempts >= %(attempts)s
) s
where (%(kind)s::text is null or s.kind = %(kind)s)

-- name: failures
-- Every failed attempt of these units, the latest first.
select f.id, f.unit_kind, f.unit_id, f.class, f.status_code, left(f.detail, 400) as detail, f.model, f.attempt, f.parked, f.at
from unnest(%(kinds)s::text[], %(ids)s::bigint[]) as u (kind, id)
cross join lateral (
    select * from distill_failures f where f.unit_kind = u.kind and f.unit_id = u.id order by f.id desc limit %(shown)s
) f
order by f.id desc
