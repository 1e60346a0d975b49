-- /ui/search without a question: everything, newest first; and what a hit's row says besides its text.
-- {live_note} is replaced by the state asked for (stages/search_scope.py).

-- name: browse_notes
-- The page's ids first: what is sorted is narrow.
select n.id, 'note' as type, n.raw_id, n.title, left(n.content, 2000) as text, n.project,
       coalesce(n.said_at, n.valid_from) as at, page.sort_key
from (
    select n.id, {key} as sort_key from distilled_notes n
    where {live_note} and (%(project)s::text is null or n.project = %(project)s) and {after}
    order by {order} limit %(limit)s
) as page
join distilled_notes n on n.id = page.id
order by {order}

-- name: count_notes
select count(*)::int as total from distilled_notes n
where {live_note} and (%(project)s::text is null or n.project = %(project)s)

-- name: browse_raw
-- Captured items of every kind. The canary's are nobody's memory.
select s.id, 'turn' as type, s.id as raw_id, left(s.body, 200) as title, left(s.body, 2000) as text, s.project,
       s.said_at as at, {key} as sort_key
from raw_items s
where s.project is distinct from 'argus-canary'
  and (%(project)s::text is null or s.project = %(project)s)
  and (%(scope_source)s::text is null or s.source = %(scope_source)s)
  and (%(scope_kind)s::text is null or s.kind = %(scope_kind)s)
  and (%(scope_since)s::timestamptz is null or s.said_at >= %(scope_since)s)
  and (%(scope_until)s::timestamptz is null or s.said_at < %(scope_until)s)
  and {after}
order by {order} limit %(limit)s

-- name: count_raw
select count(*)::int as total from raw_items s
where s.project is distinct from 'argus-canary'
  and (%(project)s::text is null or s.project = %(project)s)
  and (%(scope_source)s::text is null or s.source = %(scope_source)s)
  and (%(scope_kind)s::text is null or s.kind = %(scope_kind)s)
  and (%(scope_since)s::timestamptz is null or s.said_at >= %(scope_since)s)
  and (%(scope_until)s::timestamptz is null or s.said_at < %(scope_until)s)

-- name: note_facts
select n.id, n.category, n.importance, n.confidence, n.deleted_at, n.deleted_reason, n.valid_from, n.valid_to,
       n.excluded_at, n.pinned_at, n.superseded_by, n.model, r.source, r.kind, r.session
from distilled_notes n join raw_items r on r.id = n.raw_id where n.id = any(%(ids)s)

-- name: turn_facts
select r.id, r.source, r.kind, r.session, t.role, t.speaker,
       (select w.reason from withheld_turns w where w.raw_id = r.id order by w.at desc limit 1) as withheld
from raw_items r left join turns t on t.raw_id = r.id where r.id = any(%(ids)s)

-- name: project_choices
-- Names of projects that something was captured in, by steps through the index.
with recursive names (name) as (
    (select project from raw_items where project is not null order by project limit 1)
    union all
    select (select r.project from raw_items r where r.project > names.name order by r.project limit 1)
    from names where names.name is not null
)
select name from names where name is not null and name <> 'argus-canary' limit 500
