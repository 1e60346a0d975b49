-- What the overview and the page of one check show beside the checks of health.sql.

-- name: status_hours
-- The worst status of each check in each of the last %(hours)s hours (0: the running one), and the newest sample
-- before them, from which the first hour goes on.
select s.name, least(floor(extract(epoch from %(now)s - s.at) / 3600)::int, %(hours)s) as hours_ago,
       (array_agg(s.status order by array_position('{ok,unknown,warn,failed}', s.status) desc))[1] as worst,
       (array_agg(s.status order by s.at desc, s.id desc))[1] as last
from health_samples s
where s.at > %(now)s - make_interval(hours => %(hours)s + 3) and s.at <= %(now)s
  and (%(name)s::text is null or s.name = %(name)s)
group by 1, 2

-- name: work_hours
-- What each stage did in each of the last %(hours)s hours.
with since as (select %(now)s - make_interval(hours => %(hours)s) as at)
select 'capture' as stage, floor(extract(epoch from %(now)s - captured_at) / 3600)::int as hours_ago,
       count(*)::int as amount
from raw_items, since where captured_at > since.at and captured_at <= %(now)s and project is distinct from 'argus-canary'
group by 1, 2
union all
select stage, floor(extract(epoch from %(now)s - finished_at) / 3600)::int,
       sum(case stage when 'segment' then (counts ->> 'episodes_closed')::numeric
                      when 'distill' then (counts ->> 'notes_created')::numeric
                      when 'embed' then (counts ->> 'turns_embedded')::numeric + (counts ->> 'notes_embedded')::numeric
                      when 'dedup' then (counts ->> 'notes')::numeric end)::int
from stage_passes, since where stage = any(%(stages)s) and finished_at > since.at and finished_at <= %(now)s
group by 1, 2
union all
select 'recall', floor(extract(epoch from %(now)s - i.at) / 3600)::int, count(*)::int
from injections i, since where i.at > since.at and i.at <= %(now)s
group by 1, 2

-- name: recall_facts
-- How the last day's recalls went: `degraded` found by fewer tracks than there are, `empty` found nothing.
select count(*)::int as recalls, count(*) filter (where degraded is not null)::int as degraded,
       count(*) filter (where skipped = 'nothing-on-record')::int as empty,
       (percentile_disc(0.95) within group (order by milliseconds))::float as p95_ms,
       (select max(at) from injections where at <= %(now)s) as last_at
from injections where at > %(now)s - interval '24 hours' and at <= %(now)s

-- name: gap_hours
-- Hours in which a watcher was away.
select distinct g.watcher, h.hours_ago::int
from watcher_gaps g
cross join lateral generate_series(0, %(hours)s - 1) as h (hours_ago)
where g.until_at > %(now)s - make_interval(hours => %(hours)s)
  and g.from_at < %(now)s - make_interval(hours => h.hours_ago)
  and g.until_at > %(now)s - make_interval(hours => h.hours_ago + 1)

-- name: waiting_for_a_person
-- What goes on only when a person has looked: how many, and since when.
select 'held-merges' as what, count(*)::int as waiting, min(at) as since from dedup_log where status = 'pending'
union all
select 'held-decisions', count(*)::int, min(at) from note_decisions where status = 'held'
union all
select 'proposals', count(*)::int, min(at) from note_proposals where status = 'pending'
union all
select 'parked', count(*)::int, min(queued_at) from distill_state where status = 'parked'
union all
select 'parked-texts', count(*)::int, min(q.queued_at)
from embed_queue q join embedding_spaces s on s.id = q.space_id and s.status <> 'retired'
where q.attempts >= %(attempts)s
union all
select 'no-shows', count(*)::int, min(opened_at) from alerts where closed_at is null and kind = 'no-show'
union all
select 'alerts', count(*)::int, min(opened_at) from alerts where closed_at is null and kind <> 'no-show'
union all
select 'deliveries', count(*)::int, min(created_at) from deliveries where status in ('pending', 'sending')
union all
select 'regenerations', count(*)::int, min(started_at) from regenerations where status = 'held'

-- name: check_samples
-- What a check said, newest first, a page.
select s.id, s.at, s.status, s.detail, {key} as sort_key from health_samples s
where name = %(name)s and {after}
order by {order} limit %(limit)s

-- name: count_check_samples
select count(*)::int as total from health_samples where name = %(name)s

-- name: stage_passes
-- The passes of a stage, newest first, a page.
select s.id, s.started_at, s.finished_at, s.outcome, s.counts, s.error, s.run_id, {key} as sort_key
from stage_passes s
where s.stage = %(name)s and (%(outcome)s::text is null or s.outcome = %(outcome)s) and {after}
order by {order} limit %(limit)s

-- name: count_stage_passes
select count(*)::int as total from stage_passes
where stage = %(name)s and (%(outcome)s::text is null or outcome = %(outcome)s)
