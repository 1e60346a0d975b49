-- name: deliveries
select s.id, s.key, s.kind, s.channel, s.title, left(s.body, 400) as body, s.link, s.alert_id, s.task, s.created_at, s.status,
       s.target, s.attempts, s.next_try_at, s.parts_sent, s.parts_total, s.sent_at, s.last_error, {key} as sort_key
from deliveries s
where {after}
  and (%(status)s::text is null or s.status = %(status)s)
  and (%(channel)s::text is null or s.channel = %(channel)s)
  and (%(kind)s::text is null or s.kind = %(kind)s)
order by {order} limit %(limit)s

-- name: count_deliveries
select count(*)::int as total from deliveries s
where (%(status)s::text is null or s.status = %(status)s)
  and (%(channel)s::text is null or s.channel = %(channel)s)
  and (%(kind)s::text is null or s.kind = %(kind)s)

-- name: delivery
select d.id, d.key, d.kind, d.channel, d.title, d.body, d.link, d.alert_id, d.task, d.rid, d.created_at, d.status, d.target,
       d.attempts, d.next_try_at, d.leased_until, d.leased_by, d.parts_sent, d.parts_total, d.sent_at, d.last_error
from deliveries d where d.id = %(id)s

-- name: attempts
select a.id, a.at, a.part, a.outcome, a.status, a.error, a.seconds from delivery_attempts a
where a.delivery_id = %(id)s order by a.id desc limit %(limit)s
