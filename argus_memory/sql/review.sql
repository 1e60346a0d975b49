-- name: list_held
select l.id, l.at, l.verdict, l.note_id, l.other_id, l.similarity, l.model, l.reasoning, l.status,
       n.content as note, n.said_at as note_said_at, n.confidence as note_confidence, n.project,
       o.content as other, o.said_at as other_said_at, o.confidence as other_confidence,
       o.pinned_at is not null as other_pinned, l.auto_at, n.deleted_reason as note_gone, o.deleted_reason as other_gone
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
select id, raw_id, confidence, valid_from, valid_to, pinned_at, deleted_at, deleted_reason, superseded_by
from distilled_notes
where id = any(%(ids)s)
order by id
for update

-- name: take_away
update distilled_notes
set deleted_at = %(now)s, deleted_reason = %(reason)s, superseded_by = %(stays)s, valid_to = %(valid_to)s
where id = %(gone)s

-- name: note_gain
update dedup_log
set confidence_before = %(before)s, confidence_after = %(after)s, auto_at = coalesce(%(auto_at)s, auto_at)
where id = %(id)s

-- name: due_merges
-- Waiting since before a moment, and never let through by the switch before; the oldest first.
select id from dedup_log where status = 'pending' and at < %(before)s and auto_at is null order by id limit %(limit)s

-- name: due_proposals
select id from note_proposals where status = 'pending' and at < %(before)s and auto_at is null order by id
limit %(limit)s

-- name: second_look
-- What is known of a held merge's notes by now.
select n.id as note_id, n.content, n.project, o.id as other_id, o.pinned_at is not null as pinned,
       (select count(*)::int from dedup_log w
        where w.status = 'pending' and w.id <> l.id and (w.note_id in (n.id, o.id) or w.other_id in (n.id, o.id)))
           as others_waiting,
       (select count(*)::int from note_proposals p where p.status = 'pending' and p.disputes in (n.id, o.id))
           as proposals,
       exists (select from note_decisions d
               where d.note_id in (n.id, o.id) and (d.status = 'held' or d.at > l.at)) as decided
from dedup_log l
join distilled_notes n on n.id = l.note_id
join distilled_notes o on o.id = l.other_id
where l.id = %(id)s

-- name: counts_since
-- What the switch let through, and what people settled, since a person last looked (of all time if nobody did).
select (select value::timestamptz from store_settings where key = 'review_looked_at') as looked_at,
       (select count(*)::int from dedup_log l where l.auto_at > s.since)
         + (select count(*)::int from note_proposals p where p.auto_at > s.since) as auto_approved,
       (select count(*)::int from dedup_log l
        where l.status = 'pending' and l.at > s.since) as new_merges,
       (select count(*)::int from note_proposals p where p.status = 'pending' and p.at > s.since) as new_proposals,
       (select count(*)::int from note_decisions d where d.status = 'held' and d.at > s.since) as new_decisions
from (select coalesce((select value::timestamptz from store_settings where key = 'review_looked_at'), '-infinity')
      as since) s

-- name: counts
select (select count(*)::int from dedup_log where status = 'pending') as held,
       (select count(*)::int from note_decisions where status = 'held') as decisions,
       (select count(*)::int from note_proposals where status = 'pending') as proposals,
       (select count(*)::int from regenerations where status = 'held') as regenerations

-- name: held_regenerations
select id, first_day, last_day, started_at, actor, model, loss, loss_guard, counts from regenerations
where status = 'held' order by id desc limit %(limit)s

-- name: looked
insert into store_settings (key, value, changed_at) values ('review_looked_at', %(now)s::timestamptz::text, %(now)s)
on conflict (key) do update set value = excluded.value, changed_at = excluded.changed_at

-- name: list_auto
select 'merge' as what, l.id, l.auto_at, n.id as note_id, n.content, l.status
from dedup_log l join distilled_notes n on n.id = l.note_id where l.auto_at > coalesce(%(since)s::timestamptz, '-infinity')
union all
select 'proposal', p.id, p.auto_at, p.note_id, p.content, p.status from note_proposals p
where p.auto_at > coalesce(%(since)s::timestamptz, '-infinity')
order by auto_at desc, id desc
limit %(limit)s

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
