-- name: note_key
select id, uid, title, content, category, project, valid_from, valid_to, created_at, pinned_at, excluded_at,
       confirmed_at, deleted_at, deleted_reason, superseded_by
from distilled_notes where id = %(id)s

-- name: note_events
-- What happened to the fact, under whichever row it stood, and to others in its favour.
select e.id, e.note_id, e.at, e.event, e.other_id, e.actor, e.detail, e.project
from note_events e where e.uid = %(uid)s and e.event <> 'shown'
union
select e.id, e.note_id, e.at, e.event, e.other_id, e.actor, e.detail, e.project
from note_events e where e.other_id = %(id)s and e.detail ?| array['reason', 'was']
order by id

-- name: note_shown
select count(*)::int as times, min(e.at) as first_at, max(e.at) as last_at
from note_events e join distilled_notes n on n.id = e.note_id
where n.id = any(%(ids)s) and e.event = 'shown'

-- name: note_decisions
select d.id, d.at, d.decision, d.status, d.note_id, d.actor, d.actor_kind, d.reason, d.new_note_id, d.arrival,
       d.decided_by, d.decided_at
from note_decisions d where d.uid = %(uid)s order by d.id

-- name: note_verdicts
select l.id, l.at, l.note_id, l.other_id, l.verdict, l.status, l.similarity, l.model, l.reasoning, l.decided_by,
       l.decided_at
from dedup_log l where l.note_id = %(id)s or l.other_id = %(id)s order by l.id

-- name: project_names
-- A project's name now, every name it had and those of the projects merged into it; none: no such project.
with recursive asked as (
    select p.id, p.merged_into from projects p where p.name = %(project)s
    union
    select p.id, p.merged_into from project_aliases a join projects p on p.id = a.project_id
    where a.alias = %(project)s
), up as (
    select id, merged_into from asked
    union
    select p.id, p.merged_into from up join projects p on p.id = up.merged_into
), down as (
    select id from up
    union
    select p.id from down join projects p on p.merged_into = down.id
)
select p.name from projects p join down on down.id = p.id
union
select a.alias from project_aliases a join down on down.id = a.project_id

-- name: timeline
select e.id, e.at from note_events e
where e.event <> 'shown' and e.at >= %(since)s and e.at < %(until)s
  and (%(events)s::text[] is null or e.event = any(%(events)s))
order by e.at desc, e.id desc limit %(limit)s

-- name: project_timeline
select e.id, e.at from note_events e
where e.event <> 'shown' and e.project = any(%(projects)s) and e.at >= %(since)s and e.at < %(until)s
  and (%(events)s::text[] is null or e.event = any(%(events)s))
order by e.at desc, e.id desc limit %(limit)s

-- name: unattributed
select count(*)::int as events from note_events e
where e.event <> 'shown' and e.project is null and e.at >= %(since)s and e.at < %(until)s
  and (%(events)s::text[] is null or e.event = any(%(events)s))

-- name: timeline_entries
-- With the note's text right after the event.
select e.id, e.at, e.event, e.note_id, e.uid, e.other_id, e.actor, e.detail, e.project, n.title, n.category,
       coalesce((select r.detail ->> 'before' from note_events r
                 where r.note_id = e.note_id and r.id > e.id and r.event = 'reworded' order by r.id limit 1),
                n.content) as text
from note_events e join distilled_notes n on n.id = e.note_id
where e.id = any(%(ids)s)
order by e.at desc, e.id desc

-- name: subject_lexemes
select array(select term.lexeme from unnest(argus_tsvector(%(subject)s)) as term) as lexemes

-- name: subject_notes
-- Notes about the subject that something happened to in the window, the latest first. Two scans, because each of
-- them has an index of its own.
with matched as (
    select n.id, n.valid_from, n.valid_to from distilled_notes n
    where n.deleted_at is null and n.tsv @@ %(words)s::tsquery
      and (%(projects)s::text[] is null or n.project = any(%(projects)s) or n.project is null)
    union all
    select n.id, n.valid_from, n.valid_to from distilled_notes n
    where n.deleted_at is not null and n.tsv @@ %(words)s::tsquery
      and (%(projects)s::text[] is null or n.project = any(%(projects)s) or n.project is null)
)
select m.id, count(*) over ()::int as found
from matched m
cross join lateral (
    select max(e.at) as at from note_events e
    where e.note_id = m.id and e.event <> 'shown' and e.at > %(since)s and e.at <= %(until)s
) as last
where last.at is not null
   or (m.valid_from > %(since)s and m.valid_from <= %(until)s)
   or (m.valid_to > %(since)s and m.valid_to <= %(until)s)
order by last.at desc nulls last, m.id desc
limit %(limit)s

-- name: families
-- These notes, what they took the place of, and what took theirs.
with recursive family (id) as (
    select unnest(%(ids)s::bigint[])
    union
    select beside.id from family f cross join lateral (
        select n.id from distilled_notes n where n.superseded_by = f.id
        union all
        select n.superseded_by from distilled_notes n where n.id = f.id and n.superseded_by is not null
    ) as beside
)
select array(select id from family) as ids

-- name: facts_of
-- By known ids: joined to the recursion it would read the whole table, for the many rows it is taken to give.
select n.id, n.content, n.category, n.project, n.created_at, n.valid_from, n.valid_to
from distilled_notes n where n.id = any(%(ids)s) order by n.id

-- name: events_of
select e.id, e.note_id, e.at, e.event, e.actor, e.other_id, e.detail
from note_events e where e.note_id = any(%(ids)s) and e.event <> 'shown' order by e.id
