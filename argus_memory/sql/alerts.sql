-- name: open_alert
-- No row back: it is open already, and whoever opened it has told.
insert into alerts (kind, subject, severity, title, detail, evidence, channel, opened_at, opened_by, reminded_at)
values (%(kind)s, %(subject)s, %(severity)s, %(title)s, %(detail)s, %(evidence)s, %(channel)s, %(now)s, %(by)s,
        %(now)s)
on conflict (kind, subject) where closed_at is null do nothing
returning id

-- name: close_alert
update alerts set closed_at = %(now)s, closed_by = %(by)s
where kind = %(kind)s and subject = %(subject)s and closed_at is null
returning id, title, opened_at, channel

-- name: update_alert
-- What is wrong may change while it stays wrong; nobody is told again.
update alerts set detail = %(detail)s, evidence = %(evidence)s
where kind = %(kind)s and subject = %(subject)s and closed_at is null
  and (detail is distinct from %(detail)s or evidence is distinct from %(evidence)s)

-- name: remind_alert
update alerts set reminded_at = %(now)s, reminders = reminders + 1
where id = %(id)s and closed_at is null and (reminded_at <= %(now)s - %(pace)s or reminded_at > %(now)s + %(pace)s)
  and (snoozed_until is null or snoozed_until <= %(now)s)
returning id, title, detail, severity, kind, subject, opened_at, channel, reminders

-- name: due_reminders
-- Also what was told in a future further off than a reminder: the clock was ahead then, and was set back.
select id from alerts
where closed_at is null and (reminded_at <= %(now)s - %(pace)s or reminded_at > %(now)s + %(pace)s)
  and (snoozed_until is null or snoozed_until <= %(now)s)
order by id

-- name: list_alerts
select id, kind, subject, severity, title, detail, evidence, opened_at, opened_by, reminders, snoozed_until, closed_at,
       closed_by
from alerts
where closed_at is null or %(closed_too)s
order by closed_at is null desc, opened_at desc, id desc
limit %(limit)s

-- name: count_alerts
select count(*) filter (where closed_at is null)::int as open, count(*)::int as total from alerts

-- name: find_alert
select id, closed_at from alerts where id = %(id)s

-- name: snooze_alert
update alerts set snoozed_until = %(until)s where id = %(id)s and closed_at is null returning id

-- name: close_alert_by_id
update alerts set closed_at = %(now)s, closed_by = %(by)s where id = %(id)s and closed_at is null
returning id, title, opened_at, channel

-- name: insert_delivery
insert into deliveries (key, kind, channel, title, body, link, alert_id, task, rid, created_at, next_try_at)
values (%(key)s, %(kind)s, %(channel)s, %(title)s, %(body)s, %(link)s, %(alert_id)s, %(task)s, %(rid)s, %(now)s,
        %(now)s)
on conflict (key) do nothing
returning id
