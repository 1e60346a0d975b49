-- What each service level is measured from; nothing of the canary counts. Spans: %(now)s - %(window)s to %(now)s.

-- name: captured
-- Live turns: an import of old conversations says nothing about the hooks.
select count(*)::int as turns
from raw_items r
where r.kind = 'turn' and r.captured_at > %(now)s - %(window)s and r.captured_at <= %(now)s
  and r.said_at > r.captured_at - interval '1 day' and r.project is distinct from 'argus-canary'

-- name: missed
-- What hooks say they could not send, what each sweep found that they had not sent, and prompts of sessions of which
-- nothing arrived.
select
    (select coalesce(sum(case when missed ->> 'turns' ~ '^[0-9]{1,9}$' then (missed ->> 'turns')::bigint else 0 end
                         + case when missed ->> 'rejected' ~ '^[0-9]{1,9}$' then (missed ->> 'rejected')::bigint else 0 end
                         + case when missed ->> 'dropped' ~ '^[0-9]{1,9}$' then (missed ->> 'dropped')::bigint else 0 end), 0)
     from hook_heartbeats where at > %(now)s - %(window)s)::int as told,
    (select coalesce(sum((metrics ->> 'turns_uncaptured')::float8), 0)
     from task_runs
     where started_at > %(now)s - %(window)s and metrics ? 'turns_uncaptured')::int as swept,
    (select count(*) from injections i
     where i.at between %(now)s - %(window)s and %(now)s - %(patience)s and i.prompt_mode and i.host is not null
       and i.session is not null and i.skipped is distinct from 'system-turn'
       and i.project is distinct from 'argus-canary' and i.session not like %(canary)s
       and not exists (select from turns t where t.session = i.session)
       and not exists (
           select from capture_outcomes o where o.session = i.session and o.at > %(now)s - 2 * %(window)s))::int as unheard

-- name: minutes_to_note
-- From the capture of a unit's last turn (an item's own) to the end of its distilling; units made again do not count.
select count(*)::int as units,
       percentile_cont(0.5) within group (order by minutes) as median,
       percentile_cont(0.95) within group (order by minutes) as p95
from (
    select extract(epoch from s.distilled_at - r.captured_at) / 60 as minutes
    from distill_state s
    left join episodes e on s.unit_kind = 'episode' and e.id = s.unit_id
    join raw_items r on r.id = coalesce(e.last_raw_id, case when s.unit_kind = 'item' then s.unit_id end)
    where s.status = 'done' and s.distilled_at > %(now)s - %(window)s and s.distilled_at <= %(now)s
      and s.project is distinct from 'argus-canary' and s.distilled_at >= r.captured_at
      and r.said_at > r.captured_at - interval '1 day' and r.captured_at > %(now)s - 2 * %(window)s
      and (e.id is null or not exists (
          select from episode_events v where v.episode_id = e.id and v.event = 'reopened'))
) waited

-- name: grounding
select (select count(*) from gate_rejections
        where at > %(now)s - %(window)s and at <= %(now)s and reason = 'grounding')::int as ungrounded,
       (select count(*) from gate_rejections where at > %(now)s - %(window)s and at <= %(now)s)::int
       + (select count(*) from distilled_notes
          where created_at > %(now)s - %(window)s and created_at <= %(now)s
            and project is distinct from 'argus-canary')::int as candidates

-- name: recalls
-- Prompts that were looked up: one without substance is answered before that.
select count(*)::int as looked_up,
       count(*) filter (where cardinality(note_ids) = 0 and cardinality(turn_ids) = 0)::int as empty,
       percentile_cont(0.95) within group (order by milliseconds) as p95
from injections
where at > %(now)s - %(window)s and at <= %(now)s and prompt_mode
  and (skipped is null or skipped = 'nothing-on-record')
  and project is distinct from 'argus-canary' and (session is null or session not like %(canary)s)

-- name: drift
select count(distinct first_day)::int as days, coalesce(sum((counts ->> 'removed')::int), 0)::int as lost,
       coalesce(sum((counts ->> 'notes_before')::int), 0)::int as notes
from regenerations
where mode = 'reconcile' and started_at > %(now)s - %(span)s and started_at <= %(now)s
  and status in ('shown', 'switched', 'held', 'dismissed')

-- name: uses
select count(*)::int as judged, count(*) filter (where used)::int as used
from injection_uses where at > %(now)s - %(window)s and at <= %(now)s

-- name: insert_measurement
insert into slo_measurements (slo, at, value, threshold, status, detail)
values (%(slo)s, %(now)s, %(value)s, %(threshold)s, %(status)s, %(detail)s)

-- name: history
select slo, at, value, threshold, status, detail
from slo_measurements
where at > %(since)s
order by slo, at
