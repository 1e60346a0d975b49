-- name: pending_units
select unit_kind, unit_id
from distill_state
where status = 'pending' and (said_at at time zone 'UTC')::date between %(first)s and %(last)s
order by said_at desc, unit_kind, unit_id desc

-- name: units_by_day
select (said_at at time zone 'UTC')::date as day,
       count(*) filter (where status = 'done')::int as done,
       count(*) filter (where status = 'pending')::int as pending,
       count(*) filter (where status = 'parked')::int as parked,
       coalesce(sum(notes_created) filter (where status = 'done'), 0)::int as notes
from distill_state
where (said_at at time zone 'UTC')::date between %(first)s and %(last)s
group by 1

-- name: open_sessions
select distinct session
from turns
where episode_id is null and project is distinct from 'argus-canary'
  and (said_at at time zone 'UTC')::date between %(first)s and %(last)s

-- name: episodes_by_day
select day, count(*)::int as episodes, sum(turn_count)::int as turns
from episodes
where replaced_at is null and day between %(first)s and %(last)s
group by day

-- name: queue_missing_vectors
insert into embed_queue (space_id, target, target_id)
select s.id, 'turn', t.raw_id
from turns t cross join embedding_spaces s
where %(target)s = 'turn' and s.status <> 'retired' and t.project is distinct from 'argus-canary'
  and (t.said_at at time zone 'UTC')::date between %(first)s and %(last)s
  and not exists (select from turn_vectors v where v.space_id = s.id and v.raw_id = t.raw_id)
union all
select s.id, 'note', n.id
from distilled_notes n cross join embedding_spaces s
where %(target)s = 'note' and s.status <> 'retired' and n.deleted_at is null
  and (n.said_at at time zone 'UTC')::date between %(first)s and %(last)s
  and not exists (select from note_vectors v where v.space_id = s.id and v.note_id = n.id)
on conflict do nothing

-- name: retry_vectors
update embed_queue q
set attempts = 0
where q.attempts > 0 and q.target = %(target)s
  and case when q.target = 'turn'
      then exists (
          select from turns t
          where t.raw_id = q.target_id and (t.said_at at time zone 'UTC')::date between %(first)s and %(last)s)
      else exists (
          select from distilled_notes n
          where n.id = q.target_id and (n.said_at at time zone 'UTC')::date between %(first)s and %(last)s) end

-- name: turn_vectors_by_day
select (t.said_at at time zone 'UTC')::date as day, count(v.raw_id)::int as vectors,
       (count(*) - count(v.raw_id))::int as missing
from turns t
left join embedding_spaces s on s.status = 'active'
left join turn_vectors v on v.space_id = s.id and v.raw_id = t.raw_id
where (t.said_at at time zone 'UTC')::date between %(first)s and %(last)s
group by 1

-- name: note_vectors_by_day
select (n.said_at at time zone 'UTC')::date as day, count(v.note_id)::int as vectors,
       (count(*) - count(v.note_id))::int as missing
from distilled_notes n
left join embedding_spaces s on s.status = 'active'
left join note_vectors v on v.space_id = s.id and v.note_id = n.id
where n.deleted_at is null and (n.said_at at time zone 'UTC')::date between %(first)s and %(last)s
group by 1
