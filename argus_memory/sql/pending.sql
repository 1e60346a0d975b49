-- name: pending_work
-- Everything that can wait, in one row. Its time grows with what waits, not with what is stored.
with due as (
    {due_tails}
),
tails as (
    select count(*)::int as tails_due,
           count(*) filter (where reason <> 'idle' or last_at < %(now)s - %(idle)s - %(patience)s)::int as tails_urgent,
           max(last_at) as tails_newest, min(last_at) as tails_oldest,
           md5(string_agg(session || ' ' || last_raw_id, ',' order by session)) as tails_key
    from due
),
live as (
    select count(distinct session)::int as tails_open
    from turns where episode_id is null and project is distinct from 'argus-canary'
),
units as (
    select count(*) filter (where ready)::int as units_due,
           max(said_at) filter (where ready) as units_newest,
           min(queued_at) filter (where ready) as units_oldest,
           -- A sum needs no order and no text: of 1,500 waiting units an ordered md5 took ten times as long.
           sum(hash_record_extended(row(unit_kind, unit_id, queued_at, attempts), 0)) filter (where ready)::text
               as units_key,
           count(*) filter (where not ready)::int as units_later,
           min(next_attempt_at) filter (where not ready) as units_next_at
    from (
        select unit_kind, unit_id, said_at, queued_at, attempts, next_attempt_at,
               (next_attempt_at is null or next_attempt_at <= %(now)s)
                   and (claimed_at is null or claimed_at < %(now)s - %(lease)s) as ready
        from distill_state
        where status = 'pending'
    ) u
),
parked as (
    select count(*)::int as units_parked from distill_state where status = 'parked'
),
spaces as (
    select id from embedding_spaces where status <> 'retired'
),
queue as (
    select count(*) filter (where target = 'turn' and attempts < %(attempts)s)::int as turns_queued,
           min(queued_at) filter (where target = 'turn' and attempts < %(attempts)s) as turns_since,
           count(*) filter (where target = 'note' and attempts < %(attempts)s)::int as notes_queued,
           max(target_id) filter (where target = 'note' and attempts < %(attempts)s) as notes_newest,
           coalesce(sum(attempts) filter (where attempts < %(attempts)s), 0)::int as embed_attempts,
           count(*) filter (where attempts >= %(attempts)s)::int as embed_parked
    from embed_queue
    where space_id in (select id from spaces)
),
-- Before the first pass of embed there is no space, and so no queue.
unspaced as (
    select min(captured_at) as unspaced_since
    from raw_items r
    where r.id = (select min(raw_id) from turns where project is distinct from 'argus-canary')
      and not exists (select from spaces)
),
notes as (
    -- As the dedup stage takes them: with a vector, or without hope of one; and those that lost their stand-in.
    select count(*)::int as notes_undeduped, max(u.id) as undeduped_newest
    from (
        select n.id
        from distilled_notes n
        left join embedding_spaces s on s.status = 'active'
        where {live_note} and n.deduped_at is null
          and (s.id is null
               or exists (select from note_vectors v where v.space_id = s.id and v.note_id = n.id)
               or exists (
                   select from embed_queue q
                   where q.space_id = s.id and q.target = 'note' and q.target_id = n.id
                     and q.attempts >= %(attempts)s))
        union all
        select n.id
        from distilled_notes n
        join distilled_notes s on s.id = n.superseded_by and s.deleted_reason = 'redistilled'
        where n.deleted_at is not null and n.deduped_at is null and n.superseded_by is not null
          and n.deleted_reason in ('duplicate', 'refined', 'superseded')
    ) u
),
passes as (
    select max(finished_at) as embedded_at,
           (select count(*) from stage_passes
            where stage = 'segment' and finished_at > %(now)s - %(budget)s)::int as passes_lately
    from stage_passes where stage = 'embed'
),
-- What came since it was last reported to the asset catalogue, by the day it was said. The newest id is asked first:
-- on figures that are still missing after an import the planner would read the whole table to find nothing.
captured as (
    select coalesce(max(top), %(raw_id)s)::bigint as raw_id,
           coalesce(jsonb_object_agg(day, n) filter (where n > 0), '{}') as captured
    from (
        select (said_at at time zone 'UTC')::date as day, max(id) as top,
               count(*) filter (where project is distinct from 'argus-canary') as n
        from raw_items
        where id > %(raw_id)s and (select max(id) from raw_items) > %(raw_id)s
        group by 1
    ) c
),
recalled as (
    select coalesce(max(id), %(injection_id)s)::bigint as injection_id,
           count(*) filter (where project is distinct from 'argus-canary')::int as recalled
    from injections
    where id > %(injection_id)s and (select max(id) from injections) > %(injection_id)s
)
select *
from tails, live, units, parked, queue, unspaced, notes, passes, captured, recalled

-- name: days_waiting
-- What waits before one stage, by the UTC day it was said.
select (said_at at time zone 'UTC')::date as day, count(*)::int as n
from (
    select t.said_at
    from embed_queue q join embedding_spaces s on s.id = q.space_id join turns t on t.raw_id = q.target_id
    where %(stage)s = 'turn_embeddings' and q.target = 'turn' and s.status <> 'retired'
    union all
    select n.said_at
    from embed_queue q join embedding_spaces s on s.id = q.space_id join distilled_notes n on n.id = q.target_id
    where %(stage)s = 'note_embeddings' and q.target = 'note' and s.status <> 'retired'
    union all
    select said_at from distill_state where %(stage)s = 'distilled_notes' and status = 'pending'
) w
group by 1

-- name: newest_episode
select coalesce(max(id), 0)::bigint as id from episodes

-- name: episodes_since
select day, count(*)::int as n from episodes where id > %(id)s group by 1

-- name: fresh_work
-- Whether something said since %(since)s is due to be segmented or distilled.
select exists (
    select from distill_state
    where status = 'pending' and said_at > %(since)s
      and (next_attempt_at is null or next_attempt_at <= %(now)s)
      and (claimed_at is null or claimed_at < %(now)s - %(lease)s)
) or exists (
    select from ({due_tails}) due where due.last_at > %(since)s
) as fresh

-- name: count_projects
select (select count(*) from projects)::int as projects, (select count(*) from project_keys)::int as keys
