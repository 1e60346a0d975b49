-- name: lock_claims
-- One claim at a time: what "nobody else is sending in this channel" says holds until it is committed.
select pg_advisory_xact_lock(hashtextextended('argus-claim-delivery', 0))

-- name: claim_delivery
-- The next message that may go out. Alerts first; in a channel one at a time; news of one subject in their order.
-- %(open)s: channels whose target takes messages now; %(known)s: all that are configured; %(open_main)s: whether main
-- does, where every other name leads. What is said to wait beyond %(far)s was written by a clock that was ahead.
with due as (
    select d.id, d.status = 'sending' as taken_over, a.severity
    from deliveries d left join alerts a on a.id = d.alert_id
    where ((d.status = 'pending' and (d.next_try_at <= %(now)s or d.next_try_at > %(far)s))
           or (d.status = 'sending' and (d.leased_until <= %(now)s or d.leased_until > %(far)s)))
      and (d.channel = any(%(open)s) or (%(open_main)s and not d.channel = any(%(known)s)))
      and not exists (
          select from deliveries o
          where o.channel = d.channel and o.status = 'sending' and o.leased_until > %(now)s
            and o.leased_until <= %(far)s)
      and not exists (
          select from deliveries e join alerts ea on ea.id = e.alert_id
          where e.id < d.id and e.channel = d.channel and e.status in ('pending', 'sending')
            and ea.kind = a.kind and ea.subject = a.subject)
    order by d.kind in ('alert', 'recovery', 'answer') desc, d.id
    limit 1
    for update of d skip locked
)
update deliveries d
set status = 'sending', leased_by = %(holder)s, leased_until = %(until)s
from due
where d.id = due.id
returning d.id, d.key, d.kind, d.channel, d.title, d.body, d.link, d.alert_id, d.task, d.rid, d.created_at, d.attempts,
          d.parts_sent, d.target, due.taken_over, due.severity

-- name: insert_attempt
insert into delivery_attempts (delivery_id, at, part, outcome, status, error, seconds)
values (%(id)s, %(at)s, %(part)s, %(outcome)s, %(status)s, %(error)s, %(seconds)s)

-- name: last_attempt
-- What came of the last try of this part.
select outcome from delivery_attempts where delivery_id = %(id)s and part = %(part)s order by id desc limit 1

-- name: record_part
-- No row back: the lease is another's by now.
update deliveries
set parts_sent = %(part)s, parts_total = %(total)s, target = %(target)s, leased_until = %(until)s,
    message_ids = case when %(part)s = 1 then %(message)s else message_ids || %(message)s end
where id = %(id)s and status = 'sending' and leased_by = %(holder)s
returning id

-- name: renew_lease
update deliveries set leased_until = %(until)s
where id = %(id)s and status = 'sending' and leased_by = %(holder)s
returning id

-- name: release_delivery
update deliveries
set status = %(status)s, next_try_at = %(next)s, attempts = attempts + %(tried)s, leased_by = null,
    leased_until = null, last_error = coalesce(%(error)s, last_error)
where id = %(id)s and status = 'sending' and leased_by = %(holder)s
returning id

-- name: finish_delivery
update deliveries
set status = 'sent', sent_at = %(at)s, attempts = attempts + 1, leased_by = null, leased_until = null,
    last_error = %(note)s
where id = %(id)s and status = 'sending' and leased_by = %(holder)s
returning id

-- name: hurry_waiting
-- The service is back: what waits out its own pause need not.
update deliveries set next_try_at = %(now)s
where status = 'pending' and attempts > 0 and next_try_at > %(now)s

-- name: sent_to_chat
-- When a chat got something, of the last minute.
select a.at
from delivery_attempts a join deliveries d on d.id = a.delivery_id
where a.at > %(since)s and a.at <= %(until)s and a.outcome in ('sent', 'unknown') and split_part(d.target, '/', 1) = %(chat)s

-- name: set_target
update deliveries set target = %(target)s
where id = %(id)s and status = 'sending' and leased_by = %(holder)s and target is distinct from %(target)s

-- name: old_waiting
-- Never tried, and written before %(before)s.
select id, channel, kind, title, created_at
from deliveries
where status = 'pending' and attempts = 0 and parts_sent = 0 and created_at < %(before)s
order by id
for update skip locked

-- name: fold_deliveries
update deliveries set status = 'folded', last_error = %(note)s where id = any(%(ids)s)

-- name: count_waiting
select count(*)::int as waiting, min(created_at) as oldest from deliveries where status in ('pending', 'sending')

-- name: sender_facts
-- What waits for its turn, what was tried in vain, and what was given up of late.
select count(*) filter (where status in ('pending', 'sending'))::int as waiting,
       min(created_at) filter (where status in ('pending', 'sending')) as oldest,
       count(*) filter (where status = 'pending' and attempts > 0)::int as failing,
       (select last_error from deliveries where status = 'pending' and attempts > 0 order by id limit 1) as error,
       (select count(*)::int from deliveries where status = 'gave-up' and created_at > %(since)s) as gave_up
from deliveries where status in ('pending', 'sending')

-- name: load_state
select at, detail from watcher_beats where watcher = 'sender'

-- name: save_state
-- The beat's own time is the sender's alone: whoever sends in its place leaves it as it is.
insert into watcher_beats (watcher, at, since, host, pid, detail)
values ('sender', %(now)s, %(now)s, %(host)s, %(pid)s, %(detail)s)
on conflict (watcher) do update set detail = excluded.detail

-- name: find_by_key
select id, channel, status from deliveries where key = %(key)s

-- name: find_run
select rid from task_runs where rid = %(rid)s

-- name: list_deliveries
select d.id, d.key, d.kind, d.channel, d.title, d.link, d.alert_id, d.task, d.rid, d.created_at, d.status, d.target,
       d.attempts, d.next_try_at, d.parts_sent, d.parts_total, d.sent_at, d.last_error
from deliveries d
where (%(key)s::text is null or d.key = %(key)s) and (%(status)s::text is null or d.status = %(status)s)
order by d.id desc
limit %(limit)s

-- name: count_deliveries
select count(*)::int as count
from deliveries
where (%(key)s::text is null or key = %(key)s) and (%(status)s::text is null or status = %(status)s)

-- name: find_delivery
select id, status, last_error, target from deliveries where id = %(id)s

-- name: retry_delivery
-- Waiting or given up: at once, and with all its tries before it.
update deliveries set status = 'pending', next_try_at = %(now)s, attempts = 0
where id = %(id)s and status in ('pending', 'gave-up')
returning id
