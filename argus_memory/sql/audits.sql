-- Each query answers one question with the offending rows: id (text), detail (text or null), total (of all rows).

-- name: suspect_notes
-- Live notes whose quotation does not stand in its raw item letter by letter; the rule looks at these again.
select n.id::text as id, n.source_ref, r.body
from distilled_notes n join raw_items r on r.id = n.raw_id
where {live_note} and strpos(r.body, n.source_ref) = 0
order by n.id

-- name: unembedded_notes
select n.id::text as id, q.last_error as detail, count(*) over ()::int as total
from distilled_notes n
left join embedding_spaces s on s.status = 'active'
left join embed_queue q on q.space_id = s.id and q.target = 'note' and q.target_id = n.id
where {live_note} and n.created_at < %(now)s - %(age)s
  and not exists (select from note_vectors v where v.space_id = s.id and v.note_id = n.id)
order by n.id
limit %(shown)s

-- name: unembedded_turns
select t.raw_id::text as id, q.last_error as detail, count(*) over ()::int as total
from turns t
join raw_items r on r.id = t.raw_id
left join embedding_spaces s on s.status = 'active'
left join embed_queue q on q.space_id = s.id and q.target = 'turn' and q.target_id = t.raw_id
where r.captured_at < %(now)s - %(age)s and t.project is distinct from 'argus-canary'
  and not exists (select from turn_vectors v where v.space_id = s.id and v.raw_id = t.raw_id)
order by t.raw_id
limit %(shown)s

-- name: not_queued
-- Without vector and without a place in the queue: nothing would ever embed it.
select id, detail, count(*) over ()::int as total
from (
    select 'turn ' || t.raw_id as id, 'space ' || s.id as detail
    from turns t cross join embedding_spaces s
    where s.status <> 'retired' and t.project is distinct from 'argus-canary'
      and not exists (select from turn_vectors v where v.space_id = s.id and v.raw_id = t.raw_id)
      and not exists (
          select from embed_queue q where q.space_id = s.id and q.target = 'turn' and q.target_id = t.raw_id)
    union all
    select 'note ' || n.id, 'space ' || s.id
    from distilled_notes n cross join embedding_spaces s
    where s.status <> 'retired' and n.deleted_at is null
      and not exists (select from note_vectors v where v.space_id = s.id and v.note_id = n.id)
      and not exists (
          select from embed_queue q where q.space_id = s.id and q.target = 'note' and q.target_id = n.id)
) lost
order by id
limit %(shown)s

-- name: late_tails
-- Due to close, and the last turn was captured longer ago than idle closing and `age` together.
select due.session as id, due.reason || ', ' || due.turns || ' turns' as detail, count(*) over ()::int as total
from ({due_tails}) due
join raw_items r on r.id = due.last_raw_id
where greatest(r.captured_at, due.last_at) < %(now)s - %(idle)s - %(age)s
order by due.last_at
limit %(shown)s

-- name: late_units
select unit_kind || ' ' || unit_id as id,
       coalesce(last_error_class || ': ' || last_error, 'queued at ' || queued_at) as detail,
       count(*) over ()::int as total
from distill_state
where status = 'pending' and queued_at < %(now)s - %(age)s
order by queued_at
limit %(shown)s

-- name: parked_units
select unit_kind || ' ' || unit_id as id, last_error as detail, count(*) over ()::int as total
from distill_state
where status = 'parked'
order by unit_kind, unit_id
limit %(shown)s

-- name: units_without_state
select id, null as detail, count(*) over ()::int as total
from (
    select 'episode ' || e.id as id
    from episodes e
    where e.replaced_at is null
      and not exists (select from distill_state s where s.unit_kind = 'episode' and s.unit_id = e.id)
    union all
    select 'item ' || r.id
    from raw_items r
    where r.kind <> 'turn'
      and not exists (select from distill_state s where s.unit_kind = 'item' and s.unit_id = r.id)
) u
order by id
limit %(shown)s

-- name: silent_hosts
-- Machines whose hooks report turns, though none of their turns arrives; `missed` is what a hook could not send.
select h.host || ' (' || h.target || ')' as id,
       coalesce('missed: ' || h.missed::text, h.event || ' at ' || h.at) as detail,
       count(*) over ()::int as total
from hook_heartbeats h
where h.at > %(now)s - %(age)s
  and (
      h.missed is not null and h.missed not in ('null', '{}', '[]', '0')
      or h.event <> 'SessionStart'
         and not exists (
             select from raw_items r
             where r.captured_at > h.at - %(age)s and r.metadata ->> 'host' = h.host)
         and not exists (
             select from capture_outcomes o
             where o.at > h.at - %(age)s and (o.session = h.session or h.session is null))
  )
order by id
limit %(shown)s

-- name: anything_captured
select exists (select from raw_items) or exists (select from hook_heartbeats) as ever

-- name: triggers
select c.relname || '.' || t.tgname as id
from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
where not t.tgisinternal and t.tgenabled in ('O', 'A') and n.nspname = 'public'

-- name: idle_stages
-- Stages whose oldest due work has waited for `age` while no pass of theirs ended.
select w.stage as id, 'work since ' || w.since || ', last pass ' || coalesce(p.at::text, 'never') as detail,
       count(*) over ()::int as total
from (
    select 'segment' as stage, min(greatest(r.captured_at, due.last_at)) + %(idle)s as since
    from ({due_tails}) due join raw_items r on r.id = due.last_raw_id
    union all
    select 'distill', min(greatest(queued_at, next_attempt_at)) from distill_state where status = 'pending'
    union all
    select 'embed', min(q.queued_at)
    from embed_queue q join embedding_spaces s on s.id = q.space_id and s.status <> 'retired'
    where q.attempts < %(attempts)s
    union all
    select 'dedup', min(n.created_at)
    from distilled_notes n
    where n.deleted_at is null and n.deduped_at is null
      and exists (
          select from note_vectors v join embedding_spaces s on s.id = v.space_id and s.status = 'active'
          where v.note_id = n.id)
) w
left join lateral (
    select finished_at as at from stage_passes where stage = w.stage order by finished_at desc limit 1
) p on true
where w.since < %(now)s - %(age)s and (p.at is null or p.at < %(now)s - %(age)s)
order by w.stage
limit %(shown)s

-- name: failing_stages
select p.stage as id, p.error as detail, count(*) over ()::int as total
from unnest(%(stages)s::text[]) as s (stage)
cross join lateral (
    select stage, outcome, error from stage_passes where stage = s.stage order by finished_at desc, id desc limit 1
) p
where p.outcome = 'failed'
order by p.stage
limit %(shown)s
