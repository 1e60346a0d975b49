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
             where r.captured_at > h.at - %(age)s and r.metadata ->> 'host' = h.host
               and r.project is distinct from 'argus-canary')
         and not exists (
             select from capture_outcomes o
             where o.at > h.at - %(age)s and (o.session = h.session or h.session is null))
  )
order by id
limit %(shown)s

-- name: anything_captured
select exists (select from raw_items where project is distinct from 'argus-canary')
       or exists (select from hook_heartbeats) as ever

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

-- name: untraced_turns
-- Captured, but the trigger made no row of it: search, segmentation and distilling never see it.
select r.id::text as id, 'captured at ' || r.captured_at as detail, count(*) over ()::int as total
from raw_items r
where r.kind = 'turn' and not exists (select from turns t where t.raw_id = r.id)
order by r.id desc
limit %(shown)s

-- name: uncaptured_sessions
-- A hook asked about a prompt of this session, so somebody spoke; nothing of it arrived, and nothing was skipped.
select i.session as id, coalesce(i.host, 'some machine') || ', ' || i.prompts || ' prompts' as detail,
       count(*) over ()::int as total
from (
    select session, max(host) as host, count(*) as prompts, min(at) as first_at
    from injections
    where at > %(now)s - %(age)s and prompt_mode and session is not null and host is not null
      and project is distinct from 'argus-canary' and skipped is distinct from 'system-turn'
    group by session
) i
where i.first_at < %(now)s - %(patience)s
  and not exists (select from turns t where t.session = i.session)
  and not exists (
      select from capture_outcomes o where o.session = i.session and o.at > %(now)s - %(age)s - %(patience)s)
order by i.session
limit %(shown)s

-- name: broken_episodes
select id, detail, count(*) over ()::int as total
from (
    select 'episode ' || e.id as id, 'has ' || count(t.raw_id) || ' of ' || e.turn_count || ' turns' as detail
    from episodes e left join turns t on t.episode_id = e.id
    where e.replaced_at is null
    group by e.id, e.turn_count
    having count(t.raw_id) <> e.turn_count
    union all
    select 'turn ' || t.raw_id, 'is in episode ' || e.id || ', which was replaced'
    from turns t join episodes e on e.id = t.episode_id
    where e.replaced_at is not null
) broken
order by id
limit %(shown)s

-- name: lost_units
select s.unit_kind || ' ' || s.unit_id as id, 'no such ' || s.unit_kind as detail, count(*) over ()::int as total
from distill_state s
where case s.unit_kind
          when 'episode' then not exists (select from episodes e where e.id = s.unit_id)
          else not exists (select from raw_items r where r.id = s.unit_id and r.kind <> 'turn')
      end
order by s.unit_kind, s.unit_id
limit %(shown)s

-- name: fallen_health
-- The latest score against the median of the span before it.
with latest as (
    select id, at, score from memory_health where project is null and score is not null order by at desc limit 1
),
before as (
    select percentile_cont(0.5) within group (order by h.score) as score from memory_health h, latest l
    where h.project is null and h.at < l.at and h.at > l.at - %(span)s
)
select 'memory_health ' || l.id as id, round(l.score::numeric, 1) || ', after ' || round(b.score::numeric, 1) as detail,
       1 as total
from latest l, before b
where l.score < b.score - %(fall)s
limit %(shown)s

-- name: lost_note_ids
select id, detail, count(*) over ()::int as total
from (
    select 'note ' || n.id as id, 'links to ' || l.id || ', which does not exist' as detail
    from distilled_notes n cross join unnest(n.links) as l (id)
    where not exists (select from distilled_notes o where o.id = l.id)
    union all
    select u.what || ' ' || u.id, 'of ' || u.unit_kind || ' ' || u.unit_id || ', which does not exist'
    from (
        select 'rejection' as what, id, unit_kind, unit_id from gate_rejections
        union all
        select 'failure', id, unit_kind, unit_id from distill_failures
        union all
        select 'call', id, unit_kind, unit_id from llm_calls where unit_id is not null
    ) u
    where u.unit_kind = 'episode' and not exists (select from episodes e where e.id = u.unit_id)
       or u.unit_kind = 'item' and not exists (select from raw_items r where r.id = u.unit_id)
) lost
order by id
limit %(shown)s

-- name: lost_turn_targets
select id, detail, count(*) over ()::int as total
from (
    select 'queue ' || q.space_id || ':' || q.target_id as id, 'no such turn' as detail
    from embed_queue q
    where q.target = 'turn' and not exists (select from turns t where t.raw_id = q.target_id)
    union all
    select 'vector ' || v.space_id || ':' || v.raw_id, 'no such turn'
    from turn_vectors v
    where not exists (select from turns t where t.raw_id = v.raw_id)
) lost
order by id
limit %(shown)s

-- name: lost_note_targets
select 'queue ' || q.space_id || ':' || q.target_id as id, 'no such note' as detail, count(*) over ()::int as total
from embed_queue q
where q.target = 'note' and not exists (select from distilled_notes n where n.id = q.target_id)
order by q.space_id, q.target_id
limit %(shown)s

-- name: lost_showings
-- A recall counts a note as shown in the transaction that writes its ledger row, so a count above the rows is a row
-- that is gone. A number that the ledger skipped is a recall whose row never came; around a restart of Postgres
-- numbers are skipped without one.
select id, detail, count(*) over ()::int as total
from (
    select 'note ' || n.id as id, 'shown ' || n.shown_count || ' times, the ledger knows ' || coalesce(s.shown, 0) as detail
    from distilled_notes n
    left join (
        select u.id, count(*) as shown from injections i cross join unnest(i.note_ids) as u (id) group by u.id
    ) s on s.id = n.id
    where n.shown_count > coalesce(s.shown, 0)
    union all
    select 'injection ' || before + 1, 'missing, ' || (id - before - 1) || ' in a row before ' || at
    from (
        select id, at, lag(id) over (order by id) as before, lag(at) over (order by id) as before_at
        from injections where at > %(now)s - %(span)s
    ) i
    where id > before + 1 and at < %(now)s - %(patience)s
      and not pg_postmaster_start_time() between before_at and at
) lost
order by id
limit %(shown)s

-- name: unrecalled_sessions
-- The capture hook told of a new session; where the recall hook lives too, it has asked for the session's context.
select m.session as id, 'started at ' || min(m.at) || ' on ' || m.host as detail, count(*) over ()::int as total
from session_marks m
where m.mark = 'start' and m.at between %(now)s - %(age)s and %(now)s - %(patience)s
  and exists (
      select from injections k
      where k.host = m.host and not k.prompt_mode and k.at > m.at - %(known)s and k.at < m.at)
  and exists (select from turns t where t.session = m.session)
  and not exists (select from injections i where i.session = m.session)
group by m.session, m.host
order by m.session
limit %(shown)s

-- name: lost_injected_ids
select 'injection ' || i.id as id, i.what || ' ' || i.named || ' does not exist' as detail,
       count(*) over ()::int as total
from (
    select i.id, 'note' as what, u.id as named from injections i cross join unnest(i.note_ids) as u (id)
    where not exists (select from distilled_notes n where n.id = u.id)
    union all
    select i.id, 'turn', u.id from injections i cross join unnest(i.turn_ids) as u (id)
    where not exists (select from raw_items r where r.id = u.id)
) i
order by i.id
limit %(shown)s

-- name: unapplied_verdicts
-- The one that had to go is still live, though nothing later brought it back.
select 'verdict ' || l.id as id, 'note ' || n.id || ' is live, and ' || l.verdict || ' of ' || l.model || ' took it away' as detail,
       count(*) over ()::int as total
from dedup_log l
join distilled_notes n on n.id = case l.verdict when 'duplicate' then l.note_id else l.other_id end
where l.verdict <> 'distinct' and l.status in ('applied', 'approved') and n.deleted_at is null
order by l.id
limit %(shown)s

-- name: undecided_runs
select id, detail, count(*) over ()::int as total
from (
    select e.task || ' ' || to_char(e.due_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"') as id, e.due_at,
           case
               when e.status = 'expected' then 'still expected, though it had to start by ' || e.start_by
               when r.finished_at is not null then 'still ' || e.status || ', though its run ended at ' || r.finished_at
               else 'still ' || e.status || ' since ' || e.status_at
           end as detail
    from expected_runs e left join task_runs r on r.id = e.task_run_id
    where e.status = 'expected' and e.start_by < %(now)s - %(age)s
       or e.status in ('started', 'overrunning', 'late') and r.finished_at < %(now)s - %(age)s and r.retries_left = 0
       or e.status in ('queued', 'late', 'started', 'overrunning') and r.id is null
          and greatest(e.start_by, e.due_at + e.max_runtime) < %(now)s - %(stuck)s
) undecided
order by due_at
limit %(shown)s

-- name: unreported_runs
select r.rid::text as id, r.task || ': last sign of life at ' || r.beat_at as detail, count(*) over ()::int as total
from task_runs r
where r.finished_at is null and r.beat_at < %(now)s - %(age)s
order by r.started_at
limit %(shown)s

-- name: lost_runs
select id, detail, count(*) over ()::int as total
from (
    select 'run ' || r.rid as id, r.task || ' was due at ' || r.due_at || ', which the due ledger does not know' as detail
    from task_runs r
    where r.due_at is not null and r.started_at < %(now)s - %(age)s
      and not exists (select from expected_runs e where e.task = r.task and e.due_at = r.due_at)
    union all
    select 'expected ' || e.id, 'of ' || e.task || ', a task nobody has registered'
    from expected_runs e where not exists (select from tasks t where t.name = e.task)
    union all
    select 'expected ' || e.id, e.task || ' is decided by a run of ' || r.task
    from expected_runs e join task_runs r on r.id = e.task_run_id where r.task <> e.task
    union all
    select 'expected ' || e.id, e.task || ' is ok, its run ended ' || coalesce(r.outcome, 'not at all')
    from expected_runs e join task_runs r on r.id = e.task_run_id
    where e.status = 'ok' and r.outcome is distinct from 'ok' and r.outcome is distinct from 'skipped'
    union all
    select 'expected ' || e.id, e.task || ' is ok without a run'
    from expected_runs e where e.status = 'ok' and e.task_run_id is null
    union all
    select 'expected ' || e.id, e.task || ' is ' || e.status || ', its last event says ' || coalesce(v.to_status, 'nothing')
    from expected_runs e
    left join lateral (
        select to_status from expected_run_events where expected_run_id = e.id order by id desc limit 1
    ) v on true
    where v.to_status is distinct from e.status
    union all
    select 'attempt ' || a.id, 'of run ' || a.rid || ', which does not exist'
    from engine_attempts a
    where a.rid is not null and not exists (select from task_runs r where r.rid = a.rid)
) lost
order by id
limit %(shown)s

-- name: unsent_messages
select 'delivery ' || d.id as id,
       d.status || ' for ' || d.channel || coalesce(': ' || d.last_error, ' since ' || d.created_at) as detail,
       count(*) over ()::int as total
from deliveries d
where d.status in ('pending', 'sending') and d.created_at < %(now)s - %(age)s
   or d.status = 'gave-up' and d.created_at > %(now)s - interval '1 day'
order by d.id
limit %(shown)s

-- name: untold_alerts
select id, detail, count(*) over ()::int as total
from (
    select 'alert ' || a.id as id, a.kind || ' ' || a.subject || ' was never told' as detail
    from alerts a where not exists (select from deliveries d where d.key = 'alert:' || a.id || ':opened')
    union all
    select 'alert ' || a.id, a.kind || ' ' || a.subject || ' ended without a recovery notice'
    from alerts a
    where a.closed_at is not null and not exists (select from deliveries d where d.key = 'alert:' || a.id || ':closed')
    union all
    select 'delivery ' || d.id, 'is of kind ' || d.kind || ' and belongs to no alert'
    from deliveries d where d.kind in ('alert', 'recovery', 'reminder') and d.alert_id is null
    union all
    select 'delivery ' || d.id, 'is of run ' || d.rid || ', which does not exist'
    from deliveries d where d.rid is not null and not exists (select from task_runs r where r.rid = d.rid)
    union all
    select 'delivery ' || d.id, 'is sent, though no attempt says so'
    from deliveries d
    where d.status = 'sent'
      and not exists (select from delivery_attempts t where t.delivery_id = d.id and t.outcome = 'sent')
) untold
order by id
limit %(shown)s

-- name: lost_item_ids
select id, detail, count(*) over ()::int as total
from (
    select 'item ' || i.id as id, 'is ' || i.status || ', its last event says ' || coalesce(e.to_status, 'nothing') as detail
    from task_items i
    left join lateral (select to_status from task_events where item_id = i.id order by id desc limit 1) e on true
    where e.to_status is distinct from i.status and not (e.to_status is null and i.status = 'open')
    union all
    select 'event ' || e.id, 'rests on ' || e.evidence || ' ' || e.evidence_id || ', which does not exist'
    from task_events e
    where e.evidence_id ~ '^[0-9]{1,18}$'
      and case e.evidence
              when 'note' then not exists (select from distilled_notes n where n.id = e.evidence_id::bigint)
              when 'turn' then not exists (select from raw_items r where r.id = e.evidence_id::bigint)
              when 'document' then not exists (select from raw_items r where r.id = e.evidence_id::bigint)
              else false
          end
    union all
    select 'item ' || i.id, 'names neither a note nor a raw item'
    from task_items i where i.note_id is null and i.raw_id is null
) lost
order by id
limit %(shown)s

-- name: rejections_lately
select count(*) filter (where at > %(now)s - %(recent)s)::int as rejected,
       count(*) filter (where at > %(now)s - %(recent)s and reason = 'poison')::int as poison,
       count(*) filter (where at <= %(now)s - %(recent)s)::int as rejected_before,
       count(*) filter (where at <= %(now)s - %(recent)s and reason = 'poison')::int as poison_before
from gate_rejections
where at > %(now)s - %(recent)s - %(before)s and at <= %(now)s

-- name: notes_lately
select count(*) filter (where created_at > %(now)s - %(recent)s)::int as created,
       count(*) filter (where created_at <= %(now)s - %(recent)s)::int as created_before
from distilled_notes
where created_at > %(now)s - %(recent)s - %(before)s and created_at <= %(now)s and project is distinct from 'argus-canary'

-- name: recent_rejections
select 'rejection ' || id as id, reason from gate_rejections
where at > %(now)s - %(recent)s and at <= %(now)s and (%(reason)s::text is null or reason = %(reason)s)
order by id desc
limit %(shown)s

-- name: verdicts_by_day
-- day 0: the last 24 hours.
select floor(extract(epoch from %(now)s - at) / 86400)::int as day, verdict, count(*)::int as pairs
from dedup_log
where at > %(now)s - %(recent)s - %(before)s and at <= %(now)s
group by 1, 2
order by 1, 2

-- name: recent_verdicts
select 'verdict ' || id as id from dedup_log
where at > %(now)s - %(recent)s and at <= %(now)s and verdict = %(verdict)s
order by id desc
limit %(shown)s

-- name: columns
select c.relname as table, a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
       not a.attnotnull as nullable
from pg_class c
join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relkind = 'r' and c.relname <> 'alembic_version'
order by c.relname, a.attnum
