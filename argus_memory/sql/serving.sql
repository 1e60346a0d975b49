-- What agents are given by id, and why not.

-- name: notes
-- `chars` of a content; `decided_by`: who took it away.
select n.id, n.uid, n.title, left(n.content, %(chars)s) as content, n.category, n.importance, n.confidence, n.project,
       n.tags, n.links, n.source_ref, n.source_start, n.source_end, n.raw_id, n.episode_id, n.valid_from, n.valid_to,
       n.said_at, n.role, n.deleted_at, n.deleted_reason, n.superseded_by, n.excluded_at, n.pinned_at, r.session,
       d.actor as decided_by
from distilled_notes n join raw_items r on r.id = n.raw_id
left join lateral (
    select coalesce(x.decided_by, x.actor) as actor from note_decisions x
    where x.note_id = n.id and x.status = 'in-force'
      and x.decision = any(array['forget', 'exclude', 'correct', 'redact', 'reject']) order by x.id desc limit 1
) d on n.deleted_at is not null or n.excluded_at is not null
where n.id = any(%(ids)s)

-- name: items
-- Of a body `chars` characters from `from_char` on.
select r.id, r.source, r.kind, r.session, r.cwd, r.project, r.said_at, length(r.body) as length,
       substr(r.body, %(from_char)s + 1, %(chars)s) as body, t.role, t.speaker, t.episode_id,
       (select w.reason from withheld_turns w where w.raw_id = r.id order by w.at desc limit 1) as withheld,
       (select coalesce(sum(x.count), 0)::int from redactions x where x.raw_id = r.id) as masked,
       coalesce((select jsonb_agg(n.id order by n.id) from distilled_notes n where n.raw_id = r.id and {live_note}), '[]')
           as notes
from raw_items r left join turns t on t.raw_id = r.id
where r.id = any(%(ids)s)

-- name: episode
select e.id, e.session, e.source, e.project, e.turn_count, e.started_at, e.ended_at, e.replaced_at, e.replaced_reason,
       coalesce((select jsonb_agg(n.id order by n.id) from distilled_notes n
                 where n.episode_id = e.id and {live_note}), '[]') as notes
from episodes e where e.id = %(id)s

-- name: episode_turns
-- `limit` turns from `offset` on, in the order said, of each `chars` characters; of an episode that was replaced, those
-- of its span.
select r.id, coalesce(t.speaker, t.role) as who, left(r.body, %(chars)s) as body, length(r.body) as length, r.said_at,
       (select w.reason from withheld_turns w where w.raw_id = r.id order by w.at desc limit 1) as withheld
from episodes e
join turns f on f.raw_id = e.first_raw_id
join turns l on l.raw_id = e.last_raw_id
join turns t on t.session = e.session
    and (t.said_at, t.position, t.raw_id) between (f.said_at, f.position, f.raw_id)
                                              and (l.said_at, l.position, l.raw_id)
join raw_items r on r.id = t.raw_id
where e.id = %(id)s
order by t.said_at, t.position, t.raw_id
offset %(offset)s limit %(limit)s

-- name: taken
-- Of these notes, those whose text a person or an agent took away.
select n.id, coalesce(case when n.excluded_at is not null and n.deleted_at is null then 'excluded' end, n.deleted_reason)
       as why
from distilled_notes n
where n.id = any(%(ids)s)
  and (n.excluded_at is not null or n.deleted_reason = any(array['forgotten', 'corrected', 'redacted', 'rejected']))

-- name: task_runs
-- Runs of a task, newest first, from a place on.
select id, rid::text as rid, started_by, due_at, attempt, started_at, finished_at, outcome, exit_code, signal, reason,
       cost_usd::float8 as cost_usd, engine
from task_runs
where task = %(name)s
  and (%(before)s::timestamptz is null or (started_at, id) < (%(before)s::timestamptz, %(before_id)s::bigint))
order by started_at desc, id desc limit %(limit)s

-- name: task_run
-- One run with the ends of what it wrote.
select rid::text as rid, task, started_by, due_at, attempt, started_at, finished_at, outcome, exit_code, signal, reason,
       right(stdout_tail, %(chars)s) as stdout_tail, right(stderr_tail, %(chars)s) as stderr_tail,
       left(output::text, %(chars)s) as output, metrics, cost_usd::float8 as cost_usd, engine, dagster_run_id
from task_runs where task = %(name)s and rid::text = %(rid)s
