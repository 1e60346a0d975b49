-- name: find_due
-- Tails that are due to close, newest first. What "inside an answer" means here is a little wider than in
-- rules/answer_blocks.py, so that a tail is never due again and again without anything to cut.
with recursive open_sessions as (
    -- From one open session to the next along turns_pending: a step leaves dead entries marked behind it, where a
    -- scan of the whole index would go through all of an import's again until they are vacuumed.
    (
        select t.session
        from turns t
        where t.episode_id is null and t.project is distinct from 'argus-canary'
        order by t.session
        limit 1
    )
    union all
    select (
        select t.session
        from turns t
        where t.episode_id is null and t.project is distinct from 'argus-canary' and t.session > o.session
        order by t.session
        limit 1
    )
    from open_sessions o
    where o.session is not null
),
pending as (
    select t.session, t.raw_id, t.source, t.project, t.role, t.message_id, t.said_at, t.position,
           row_number() over spoken as n,
           lag(t.said_at) over spoken as said_before,
           lag(t.role) over spoken as role_before
    from open_sessions o
    cross join lateral (
        select t.session, t.raw_id, t.source, t.project, t.role, t.message_id, t.said_at, t.position
        from turns t
        where t.session = o.session and t.episode_id is null and t.project is distinct from 'argus-canary'
        order by t.said_at, t.position, t.raw_id
    ) t
    where %(sessions)s::text[] is null or o.session = any(%(sessions)s)
    window spoken as (partition by t.session order by t.said_at, t.position, t.raw_id)
),
pieces as (
    select p.*,
           case when role = 'assistant' and message_id is not null
                then max(n) over (partition by session, role, message_id) else n end as last_piece,
           role = 'assistant' and message_id is null and source = 'codex'
               and role_before is not distinct from 'assistant' as goes_on
    from pending p
),
placed as (
    select p.*,
           goes_on or coalesce(
               max(last_piece) over (partition by session order by n rows between unbounded preceding and 1 preceding),
               0) >= n as inside
    from pieces p
),
tails as (
    select session,
           count(*)::int as turns,
           (array_agg(raw_id order by n))[1] as first_raw_id,
           (array_agg(position order by n))[1] as first_position,
           (array_agg(raw_id order by n desc))[1] as last_raw_id,
           (array_agg(project order by n desc))[1] as project,
           min(said_at) as first_at,
           max(said_at) as last_at,
           count(*) filter (where role <> 'assistant')
               + count(distinct message_id) filter (where role = 'assistant')
               + count(*) filter (where role = 'assistant' and message_id is null and not goes_on) as blocks,
           bool_or(said_at - said_before > %(gap)s and not inside) as gap
    from placed
    group by session
),
judged as (
    select t.*,
        case
            when exists (
                select from turns c
                where c.session = t.session and c.episode_id is not null
                  and (c.said_at, c.position, c.raw_id) > (t.first_at, t.first_position, t.first_raw_id)
            ) then 'late-turn'
            when t.blocks > %(size)s then 'size-cap'
            when t.gap then 'time-gap'
            when t.last_at < %(now)s - %(idle)s then 'idle'
            when exists (
                select from session_marks m
                where m.session = t.session and m.mark in ('end', 'clear') and m.at >= t.last_at
            ) then 'session-end'
            when exists (
                select from turns o
                where o.project = t.project and o.session <> t.session and o.said_at > t.last_at
                  and not exists (select from turns e where e.session = o.session and e.said_at <= t.last_at)
            ) then 'next-session'
        end as reason
    from tails t
)
select session, project, reason, turns, first_at, last_at, last_raw_id,
       (
           select min(q.queued_at)
           from turns t
           join embed_queue q on q.target = 'turn' and q.target_id = t.raw_id
           join embedding_spaces s on s.id = q.space_id and s.status = 'active'
           where t.session = j.session and t.episode_id is null
       ) as vectors_missing_since
from judged j
where reason is not null
order by last_at desc, session

-- name: claim_session
select pg_try_advisory_xact_lock(hashtext('argus segment'), hashtext(%(session)s)) as claimed

-- name: first_pending
select raw_id, said_at, position
from turns
where session = %(session)s and episode_id is null and project is distinct from 'argus-canary'
order by said_at, position, raw_id
limit 1

-- name: turns_before
select raw_id, role, message_id, said_at, position, source, project, tsv_length as terms, episode_id
from turns
where session = %(session)s and (said_at, position, raw_id) < (%(said_at)s, %(position)s, %(raw_id)s)
  and project is distinct from 'argus-canary'
order by said_at desc, position desc, raw_id desc
limit %(limit)s

-- name: turns_from
select raw_id, role, message_id, said_at, position, source, project, tsv_length as terms, episode_id
from turns
where session = %(session)s and (said_at, position, raw_id) >= (%(said_at)s, %(position)s, %(raw_id)s)
  and project is distinct from 'argus-canary'
order by said_at, position, raw_id

-- name: topic_space
select id, (thresholds ->> 'topic_shift')::float8 as threshold from embedding_spaces where status = 'active'

-- name: turn_vectors
select raw_id, embedding from turn_vectors where space_id = %(space_id)s and raw_id = any(%(raw_ids)s)

-- name: waiting_since
select min(queued_at) as since
from embed_queue
where space_id = %(space_id)s and target = 'turn' and target_id = any(%(raw_ids)s)

-- name: topics_decided_blind
select before_raw_id
from segment_checks
where session = %(session)s and reason = 'topic-shift' and status = 'unavailable'
  and before_raw_id = any(%(raw_ids)s)

-- name: end_signs
select
    (select min(m.at) from session_marks m
     where m.session = %(session)s and m.mark in ('end', 'clear') and m.at >= %(last_at)s) as ended_at,
    (select min(o.said_at) from turns o
     where o.project = %(project)s and o.session <> %(session)s
       and o.said_at > %(last_at)s and o.said_at <= %(last_at)s + %(idle)s
       and not exists (select from turns e where e.session = o.session and e.said_at <= %(last_at)s)) as next_session_at

-- name: episodes_of
select id, content_key, boundary_reason
from episodes
where id = any(%(ids)s) and replaced_at is null
order by id

-- name: lock_distill_state
select unit_id, status
from distill_state
where unit_kind = 'episode' and unit_id = any(%(ids)s)
order by unit_id
for update nowait

-- name: replace_episodes
update episodes
set replaced_at = %(now)s, replaced_reason = %(reason)s
where id = any(%(ids)s) and replaced_at is null

-- name: skip_replaced_units
update distill_state
set status = 'skipped', last_error = 'replaced: ' || %(reason)s
where unit_kind = 'episode' and unit_id = any(%(ids)s)

-- name: release_turns
update turns set episode_id = null, ordinal = null where episode_id = any(%(ids)s)

-- name: insert_episode
insert into episodes (
    session, source, project, project_method, project_confidence, cwd, first_raw_id, last_raw_id, turn_count,
    block_count, started_at, ended_at, boundary_reason, boundary_score, content_key, closed_at
)
select %(session)s, %(source)s, p.project, p.project_method, p.project_confidence, p.cwd, %(first_raw_id)s,
       %(last_raw_id)s, cardinality(%(raw_ids)s::bigint[]), %(blocks)s, %(started_at)s, %(ended_at)s, %(reason)s,
       %(score)s, %(content_key)s, %(now)s
from (
    -- The project most of its turns are in; of several, the one named first.
    -- The turn's own project stands before the captured one: a person may have moved it.
    select t.project, case when t.project is distinct from r.project then 'assigned' else r.project_method end
               as project_method,
           case when t.project is distinct from r.project then 1 else r.project_confidence end as project_confidence,
           r.cwd
    from unnest(%(raw_ids)s::bigint[]) with ordinality as u (raw_id, n)
    join raw_items r on r.id = u.raw_id
    join turns t on t.raw_id = u.raw_id
    order by count(*) over (partition by t.project) desc, u.n
    limit 1
) p
returning id, project

-- name: attach_turns
update turns t
set episode_id = %(episode_id)s, ordinal = u.n
from unnest(%(raw_ids)s::bigint[]) with ordinality as u (raw_id, n)
where t.raw_id = u.raw_id

-- name: move_notes
-- Notes of a replaced episode go with the turn they rest on; the new episode's distillation keeps or tombstones them,
-- and makes none again that a judge or a person took away.
update distilled_notes n
set episode_id = %(episode_id)s
from episodes e
where n.raw_id = any(%(raw_ids)s::bigint[]) and n.episode_id = e.id and e.replaced_at is not null
  and n.deleted_reason is distinct from 'redistilled'

-- name: queue_unit
insert into distill_state (unit_kind, unit_id, project, said_at)
values ('episode', %(episode_id)s, %(project)s, %(started_at)s)

-- name: insert_event
insert into episode_events (episode_id, event, detail) values (%(episode_id)s, %(event)s, %(detail)s)

-- name: insert_check
insert into segment_checks (
    session, before_raw_id, after_raw_id, episode_id, reason, score, threshold, fired, status
)
values (
    %(session)s, %(before_raw_id)s, %(after_raw_id)s, %(episode_id)s, %(reason)s, %(score)s, %(threshold)s,
    %(fired)s, %(status)s
)
on conflict (session, after_raw_id, before_raw_id, reason, fired, status) do update
set episode_id = excluded.episode_id, score = excluded.score, threshold = excluded.threshold
where excluded.episode_id is not null and segment_checks.episode_id is distinct from excluded.episode_id
