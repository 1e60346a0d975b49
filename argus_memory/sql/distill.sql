-- name: claim_unit
-- The newest unit that is due, for one run: a claim is a lease, no transaction stays open during a model's answer.
with due as (
    select unit_kind, unit_id
    from distill_state
    where status = 'pending'
      and (claimed_at is null or claimed_at < %(now)s - %(lease)s)
      and (
          case when %(unit_ids)s::bigint[] is null
               then next_attempt_at is null or next_attempt_at <= %(now)s
               else exists (
                   select from unnest(%(unit_kinds)s::text[], %(unit_ids)s::bigint[]) as u (kind, id)
                   where u.kind = unit_kind and u.id = unit_id) end
      )
      and unit_kind || ' ' || unit_id <> all(%(done)s::text[])
    order by said_at desc, unit_kind, unit_id desc
    limit 1
    for update skip locked
)
update distill_state s
set claimed_at = %(now)s, claimed_by = %(claimed_by)s, attempts = attempts + 1
from due
where s.unit_kind = due.unit_kind and s.unit_id = due.unit_id
returning s.unit_kind, s.unit_id, s.project, s.attempts, s.content_failures

-- name: renew_claim
update distill_state
set claimed_at = %(at)s
where unit_kind = %(unit_kind)s and unit_id = %(unit_id)s and claimed_by = %(claimed_by)s and status = 'pending'

-- name: lock_claim
-- Found only while the claim is still this run's: an episode that was replaced meanwhile is no longer pending.
select attempts, content_failures
from distill_state
where unit_kind = %(unit_kind)s and unit_id = %(unit_id)s and claimed_by = %(claimed_by)s and status = 'pending'
for update

-- name: count_pending
select count(*) as pending, count(*) filter (where next_attempt_at > %(now)s) as waiting
from distill_state
where status = 'pending'

-- name: find_episode
select id, project, source, replaced_at from episodes where id = %(unit_id)s

-- name: episode_turns
select t.raw_id, t.role, r.body as text, t.said_at, t.message_id, t.position
from turns t
join raw_items r on r.id = t.raw_id
where t.episode_id = %(unit_id)s
order by t.ordinal, t.said_at, t.position, t.raw_id

-- name: find_item
select r.id, r.kind, r.body as text, r.source, r.project, r.said_at, r.metadata ->> 'role' as role, d.of_raw_id,
       exists (select from note_writes w where w.raw_id = r.id) as written
from raw_items r
left join near_duplicates d on d.raw_id = r.id
where r.id = %(unit_id)s

-- name: earlier_notes
-- Every note ever made of the unit that a person or a judge may have decided on; what an earlier distillation of
-- the unit itself took away does not count.
select id, uid, deleted_at is null as standing, deleted_reason,
       pinned_at is not null or excluded_at is not null or exists (
           select from note_decisions d
           where d.uid = n.uid and d.status = 'in-force' and d.decision in ('restore', 'confirm', 'approve')
       ) as vouched
from distilled_notes n
where (case when %(unit_kind)s = 'episode' then episode_id = %(unit_id)s
            else raw_id = %(unit_id)s and episode_id is null end)
  and deleted_reason is distinct from 'redistilled'
order by deleted_at is not null, id
for update

-- name: keep_note
-- The same fact made again: row, confidence and counts stay, what is said about it is new.
update distilled_notes
set title = %(title)s, content = %(content)s, importance = %(importance)s, keywords = %(keywords)s,
    tags = %(tags)s, context = %(context)s, source_ref = %(source_ref)s, source_start = %(source_start)s,
    source_end = %(source_end)s, raw_id = %(raw_id)s, role = %(role)s, model = %(model)s, model_real = %(model_real)s
where id = %(id)s

-- name: tombstone_notes
update distilled_notes
set deleted_at = %(now)s, deleted_reason = 'redistilled'
where id = any(%(ids)s) and deleted_at is null

-- name: insert_note
insert into distilled_notes (
    uid, text_key, raw_id, episode_id, title, content, category, importance, project, keywords, tags, context, source_ref,
    source_start, source_end, role, said_at, valid_from, model, model_real, created_at
)
values (
    %(uid)s, %(text_key)s, %(raw_id)s, %(episode_id)s, %(title)s, %(content)s, %(category)s, %(importance)s, %(project)s,
    %(keywords)s, %(tags)s, %(context)s, %(source_ref)s, %(source_start)s, %(source_end)s, %(role)s, %(said_at)s,
    %(said_at)s, %(model)s, %(model_real)s, %(now)s
)
returning id

-- name: insert_rejection
insert into gate_rejections (unit_kind, unit_id, raw_id, episode_id, title, content, source_ref, reason, detail, model, at)
values (
    %(unit_kind)s, %(unit_id)s, %(raw_id)s, %(episode_id)s, %(title)s, %(content)s, %(source_ref)s, %(reason)s,
    %(detail)s, %(model)s, %(now)s
)

-- name: finish_unit
update distill_state
set status = %(status)s, model = %(model)s, model_real = %(model_real)s, notes_created = %(notes_created)s,
    notes_rejected = %(notes_rejected)s, distilled_at = %(now)s, last_error_class = null, last_error = %(remark)s,
    next_attempt_at = null, claimed_at = null, claimed_by = null
where unit_kind = %(unit_kind)s and unit_id = %(unit_id)s

-- name: mark_episode
update episodes set distilled_at = %(now)s where id = %(unit_id)s

-- name: insert_failure
insert into distill_failures (unit_kind, unit_id, class, status_code, detail, model, attempt, parked, at)
values (
    %(unit_kind)s, %(unit_id)s, %(class)s, %(status_code)s, %(detail)s, %(model)s, %(attempt)s, %(parked)s, %(now)s
)

-- name: fail_unit
update distill_state
set status = case when %(parked)s then 'parked' else 'pending' end, content_failures = %(content_failures)s,
    last_error_class = %(class)s, last_error = %(detail)s, next_attempt_at = %(next_attempt_at)s,
    claimed_at = null, claimed_by = null
where unit_kind = %(unit_kind)s and unit_id = %(unit_id)s

-- name: release_unit
update distill_state
set claimed_at = null, claimed_by = null
where unit_kind = %(unit_kind)s and unit_id = %(unit_id)s and claimed_by = %(claimed_by)s

-- name: unpark_unit
update distill_state
set status = 'pending', content_failures = 0, next_attempt_at = null, claimed_at = null, claimed_by = null
where unit_kind = %(unit_kind)s and unit_id = %(unit_id)s and status = 'parked'
returning unit_id

-- name: find_parked
select unit_kind, unit_id, project, said_at, content_failures, attempts, last_error_class, last_error
from distill_state
where status = 'parked'
order by said_at desc, unit_kind, unit_id desc

-- name: drop_unit
-- A person gives a parked unit up: it is tried no more, and says who decided so.
update distill_state
set status = 'skipped', claimed_at = null, claimed_by = null, next_attempt_at = null,
    last_error = left('given up by ' || %(actor)s || ' on ' || to_char(%(now)s at time zone 'UTC', 'YYYY-MM-DD HH24:MI')
                      || ' UTC; it failed with: ' || coalesce(last_error, 'no reason given'), 2000)
where unit_kind = %(unit_kind)s and unit_id = %(unit_id)s and status = 'parked'
returning unit_id
