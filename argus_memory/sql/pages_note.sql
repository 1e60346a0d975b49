-- /ui/notes/{id} and /ui/raw/{id}.

-- name: note
select n.id, n.uid, n.title, n.content, n.category, n.importance, n.confidence, n.project, n.keywords, n.tags, n.context,
       n.links, n.source_ref, n.source_start, n.source_end, n.raw_id, n.episode_id, n.valid_from, n.valid_to, n.model,
       n.model_real, n.said_at, n.created_at, n.deleted_at, n.deleted_reason, n.superseded_by, n.pinned_at,
       n.excluded_at, n.confirmed_at, n.redacted_at, n.exported_at, n.shown_count, n.last_shown_at,
       r.source, r.kind, r.session, r.captured_at, r.metadata ->> 'host' as host
from distilled_notes n join raw_items r on r.id = n.raw_id
where n.id = %(id)s

-- name: related
-- Notes beside this one: linked, replaced by it, in its place, other rows of the same fact.
select n.id, n.title, left(n.content, 2000) as content, n.deleted_at, n.deleted_reason, n.valid_from, n.valid_to,
       n.excluded_at, n.superseded_by, n.said_at,
       case when n.id = %(superseded_by)s::bigint then 'in its place'
            when n.superseded_by = %(id)s then 'replaced by it'
            when n.uid = %(uid)s then 'the same fact'
            else 'linked' end as relation
from distilled_notes n
where n.id <> %(id)s
  and (n.id = any(%(links)s) or n.id = %(superseded_by)s::bigint or n.superseded_by = %(id)s or n.uid = %(uid)s)
order by relation, n.id desc limit 100

-- name: around
-- The turns before and after an item in its session, in the order said, and the item itself: of its body `chars`
-- characters from `from_char` on, of the others' the beginning. `place` is 0 for the item.
with item as (
    select r.id, r.session, r.said_at, r.position from raw_items r where r.id = %(raw_id)s
), near as (
    select b.id, -row_number() over (order by b.said_at desc, b.position desc, b.id desc) as place
    from (
        select e.id, e.said_at, e.position from raw_items e, item
        where e.session = item.session and (e.said_at, e.position, e.id) < (item.said_at, item.position, item.id)
        order by e.said_at desc, e.position desc, e.id desc limit %(reach)s
    ) as b
    union all
    select item.id, 0 from item
    union all
    select a.id, row_number() over (order by a.said_at, a.position, a.id)
    from (
        select e.id, e.said_at, e.position from raw_items e, item
        where e.session = item.session and (e.said_at, e.position, e.id) > (item.said_at, item.position, item.id)
        order by e.said_at, e.position, e.id limit %(reach)s
    ) as a
)
select r.id, near.place::int as place, r.source, r.kind, r.session, r.project, r.said_at, t.role, t.speaker, t.episode_id,
       length(r.body) as length,
       case when near.place = 0 then substr(r.body, %(from_char)s + 1, %(chars)s) else left(r.body, 700) end as body,
       (select w.reason from withheld_turns w where w.raw_id = r.id order by w.at desc limit 1) as withheld
from near join raw_items r on r.id = near.id left join turns t on t.raw_id = r.id
order by near.place

-- name: raw_item
select r.id, r.source, r.kind, r.session, r.cwd, r.project, r.project_method, r.project_confidence,
       r.metadata ->> 'host' as host, r.said_at, r.captured_at, length(r.body) as length, t.role, t.speaker, t.episode_id,
       (select d.of_raw_id from near_duplicates d where d.raw_id = r.id) as near_duplicate_of,
       (select w.reason from withheld_turns w where w.raw_id = r.id order by w.at desc limit 1) as withheld
from raw_items r left join turns t on t.raw_id = r.id
where r.id = %(id)s

-- name: raw_redactions
select kind, count, at, actor, reason from redactions where raw_id = %(id)s order by id

-- name: raw_notes
select n.id, n.title, n.category, n.deleted_at, n.deleted_reason, n.valid_from, n.valid_to, n.excluded_at,
       n.superseded_by, n.source_start, n.source_end
from distilled_notes n where n.raw_id = %(id)s order by n.id desc limit 100
