-- name: try_lock
-- Held by a connection of its own for as long as a regeneration works: a process that dies lets go of it.
select pg_try_advisory_lock(hashtext('argus regenerate')) as locked

-- name: unlock
select pg_advisory_unlock(hashtext('argus regenerate'))

-- name: abandon_dead
update regenerations
set status = 'abandoned', finished_at = %(now)s, error = 'its process ended before it was done; nothing was switched'
where status = 'running'
returning id

-- name: begin
insert into regenerations (mode, first_day, last_day, actor, model, started_at, loss_guard, run_id)
values (%(mode)s, %(first)s, %(last)s, %(actor)s, %(model)s, %(now)s, %(loss_guard)s, %(run_id)s)
returning id

-- name: units_of_days
-- Closed and distilled before, parked ones too. What waits is left to the next distilling, what was passed over stays so.
-- A note that a person gave, or a correction, is its own source: its unit is never made anew.
select s.unit_kind, s.unit_id, s.project, s.said_at
from distill_state s
left join episodes e on s.unit_kind = 'episode' and e.id = s.unit_id
where s.said_at >= %(first)s::date and s.said_at < %(last)s::date + 1 and s.status in ('done', 'parked')
  and e.replaced_at is null and s.project is distinct from 'argus-canary'
  and not (s.unit_kind = 'item' and exists (
      select from note_writes w where w.raw_id = s.unit_id))
order by s.said_at, s.unit_kind, s.unit_id

-- name: count_waiting
select count(*)::int as n
from distill_state
where said_at >= %(first)s::date and said_at < %(last)s::date + 1 and status = 'pending'

-- name: lock_states
select unit_kind, unit_id
from distill_state
where (unit_kind = 'episode' and unit_id = any(%(episodes)s)) or (unit_kind = 'item' and unit_id = any(%(items)s))
order by unit_kind, unit_id
for update

-- name: lock_notes
select id
from distilled_notes
where (episode_id = any(%(episodes)s) or (episode_id is null and raw_id = any(%(items)s)))
  and deleted_reason is distinct from 'redistilled'
order by id
for update

-- name: states
select s.unit_kind, s.unit_id, s.status, s.distilled_at, e.replaced_at is not null as replaced
from distill_state s
left join episodes e on s.unit_kind = 'episode' and e.id = s.unit_id
where (s.unit_kind = 'episode' and s.unit_id = any(%(episodes)s)) or (s.unit_kind = 'item' and s.unit_id = any(%(items)s))

-- name: notes
-- `kept`: what a person decided that keeps a note although it is not made again.
select n.id, n.uid, n.content, n.category, n.raw_id, n.episode_id, n.source_start, n.source_end, n.deleted_at,
       case when n.deleted_at is not null then coalesce(n.deleted_reason, 'no reason given') end as gone,
       case when n.pinned_at is not null then 'pinned'
            when n.excluded_at is not null then 'excluded'
            when n.confirmed_at is not null then 'confirmed'
            when exists (select from note_decisions d where d.new_note_id = n.id and d.status = 'in-force')
                then 'a correction'
            when exists (
                select from note_decisions d
                where d.uid = n.uid and d.status = 'in-force' and d.decision in ('restore', 'confirm', 'approve'))
                then 'vouched for' end as kept
from distilled_notes n
where (n.episode_id = any(%(episodes)s) or (n.episode_id is null and n.raw_id = any(%(items)s)))
  and n.deleted_reason is distinct from 'redistilled'
order by n.id

-- name: insert_unit
insert into regeneration_units (
    regeneration_id, unit_kind, unit_id, session, raw_ids, said_at, outcome, fingerprint, notes_before, candidates,
    rejected, model, model_real, remark
)
values (
    %(regeneration_id)s, %(unit_kind)s, %(unit_id)s, %(session)s, %(raw_ids)s, %(said_at)s, %(outcome)s,
    %(fingerprint)s, %(notes_before)s, %(candidates)s, %(rejected)s, %(model)s, %(model_real)s, %(remark)s
)

-- name: insert_line
insert into regeneration_notes (
    regeneration_id, unit_kind, unit_id, change, old_note_id, old_uid, old_text, new_uid, new_text, candidate, detail
)
values (
    %(regeneration_id)s, %(unit_kind)s, %(unit_id)s, %(change)s, %(old_note_id)s, %(old_uid)s, %(old_text)s,
    %(new_uid)s, %(new_text)s, %(candidate)s, %(detail)s
)

-- name: count_diff
update regenerations
set units = %(units)s, counts = %(counts)s, loss = %(loss)s
where id = %(id)s and status = 'running'

-- name: finish
update regenerations
set status = %(status)s, finished_at = %(now)s, error = %(error)s, counts = counts || %(counts)s
where id = %(id)s and status = 'running'

-- name: lock_regeneration
select id, mode, first_day, last_day, status, counts, loss, loss_guard, error, started_at, decided_by
from regenerations where id = %(id)s for update

-- name: decide
update regenerations
set status = %(status)s, decided_by = %(actor)s, decided_at = %(now)s, counts = counts || %(counts)s
where id = %(id)s

-- name: units
select unit_kind, unit_id, session, raw_ids, said_at, outcome, fingerprint, notes_before, candidates, rejected, model,
       model_real, remark
from regeneration_units
where regeneration_id = %(id)s
order by said_at, unit_kind, unit_id

-- name: lines
select l.id, l.unit_kind, l.unit_id, l.change, l.old_note_id, l.old_uid, l.old_text, l.new_uid, l.new_text,
       l.candidate, l.detail, u.said_at
from regeneration_notes l
join regeneration_units u using (regeneration_id, unit_kind, unit_id)
where l.regeneration_id = %(id)s
order by l.id

-- name: rewrite_note
-- The same fact made again: row, uid, confidence, counts, validity and decisions stay, what is said about it is new.
-- Other words are looked at by dedup again.
update distilled_notes
set title = %(title)s, content = %(content)s, category = %(category)s, importance = %(importance)s,
    keywords = %(keywords)s, tags = %(tags)s, context = %(context)s, source_ref = %(source_ref)s,
    source_start = %(source_start)s, source_end = %(source_end)s, raw_id = %(raw_id)s, role = %(role)s,
    model = %(model)s, model_real = %(model_real)s, text_key = %(text_key)s,
    deduped_at = case when content = %(content)s then deduped_at end
where id = %(id)s and deleted_at is null
  and (title, content, category, importance, keywords, tags, context, source_ref, source_start, source_end, raw_id,
       role, model, model_real)
      is distinct from
      (%(title)s, %(content)s, %(category)s, %(importance)s::real, %(keywords)s::text[], %(tags)s::text[],
       %(context)s, %(source_ref)s, %(source_start)s::int, %(source_end)s::int, %(raw_id)s::bigint, %(role)s,
       %(model)s, %(model_real)s)

-- name: drop_vectors
delete from note_vectors where note_id = any(%(ids)s)

-- name: queue_vectors
insert into embed_queue (space_id, target, target_id)
select s.id, 'note', u.id
from unnest(%(ids)s::bigint[]) as u (id) cross join embedding_spaces s
where s.status <> 'retired'
on conflict (space_id, target, target_id) do update set attempts = 0, last_error = null

-- name: finish_unit
update distill_state
set status = 'done', model = %(model)s, model_real = %(model_real)s, notes_created = %(notes)s,
    notes_rejected = %(rejected)s, distilled_at = %(now)s, content_failures = 0, last_error_class = null,
    last_error = %(remark)s, next_attempt_at = null, claimed_at = null, claimed_by = null
where unit_kind = %(unit_kind)s and unit_id = %(unit_id)s

-- name: list
select r.id, r.mode, r.first_day, r.last_day, r.actor, r.model, r.started_at, r.finished_at, r.status, r.units,
       r.counts, r.loss, r.loss_guard, r.error, r.run_id, r.decided_by, r.decided_at
from regenerations r
where %(id)s::bigint is null or r.id = %(id)s
order by r.id desc
limit %(limit)s

-- name: changes_by_day
select (u.said_at at time zone 'UTC')::date as day, l.change, count(*)::int as n
from regeneration_notes l
join regeneration_units u using (regeneration_id, unit_kind, unit_id)
where l.regeneration_id = %(id)s
group by 1, 2
order by 1, 2

-- name: sessions_of_days
select distinct t.session
from raw_items r
join turns t on t.raw_id = r.id
where r.said_at >= %(first)s::date and r.said_at < %(last)s::date + 1 and t.episode_id is not null
  and t.project is distinct from 'argus-canary'
order by t.session

-- name: first_of_days
-- The first turn of these days, and how many there are from it to their end.
select raw_id, said_at, position, count(*) over ()::int as turns
from turns
where session = %(session)s and said_at >= %(first)s::date and said_at < %(last)s::date + 1
  and project is distinct from 'argus-canary'
order by said_at, position, raw_id
limit 1

-- name: turns_to
-- One more than a page behind the last of these days.
select raw_id, role, message_id, said_at, position, source, project, tsv_length as terms, episode_id
from turns
where session = %(session)s and (said_at, position, raw_id) >= (%(said_at)s, %(position)s, %(raw_id)s)
  and project is distinct from 'argus-canary'
order by said_at, position, raw_id
limit %(turns)s + %(page)s + 1

-- name: turns_of_span
select t.raw_id, t.role, r.body as text, t.said_at, t.message_id, t.position, t.source
from unnest(%(raw_ids)s::bigint[]) with ordinality as u (raw_id, n)
join turns t on t.raw_id = u.raw_id
join raw_items r on r.id = t.raw_id
order by u.n

-- name: episodes_at
select raw_id, episode_id from turns where raw_id = any(%(raw_ids)s) and episode_id is not null
