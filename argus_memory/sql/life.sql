-- What holds a note, and what speaks against it: read by people, never shown to an agent unasked.

-- name: signs
-- Live notes that are not pinned and gave no sign since %(before)s; what use does to that is salience.py's.
select n.id, n.content, n.category, n.project, n.importance, n.confidence, n.said_at, n.confirmed_at, n.shown_count,
       n.last_shown_at, coalesce(u.uses, 0) as uses, greatest(n.said_at, n.confirmed_at, u.last_used_at) as last_sign
from distilled_notes n
left join (
    select note_id, count(*)::int as uses, max(at) as last_used_at from injection_uses where used group by note_id
) u on u.note_id = n.id
where {live_note} and n.pinned_at is null and n.said_at < %(before)s
  and (n.confirmed_at is null or n.confirmed_at < %(before)s)
  and (u.last_used_at is null or u.last_used_at < %(before)s)
  and n.project is distinct from 'argus-canary'
  and (%(project)s::text is null or n.project = %(project)s)

-- name: life_of_note
select n.pinned_at, n.excluded_at, n.confirmed_at, n.redacted_at, n.shown_count, n.last_shown_at, n.importance,
       n.said_at, u.judged, u.used, u.last_used_at
from distilled_notes n
cross join lateral (
    select count(*)::int as judged, count(*) filter (where used)::int as used, max(at) filter (where used) as last_used_at
    from injection_uses where note_id = n.id
) u
where n.id = %(id)s

-- name: counts
-- Live notes, and of them: low in confidence, without a vector in the active space, never shown.
select count(*)::int as notes,
       count(*) filter (where n.confidence < %(low)s)::int as low_confidence,
       count(*) filter (where n.shown_count = 0)::int as never_shown,
       count(*) filter (where exists (select from embedding_spaces s where s.status = 'active') and not exists (
           select from note_vectors v join embedding_spaces s on s.id = v.space_id and s.status = 'active'
           where v.note_id = n.id))::int as unembedded
from distilled_notes n
where {live_note} and n.project is distinct from 'argus-canary'
  and (%(project)s::text is null or n.project = %(project)s)

-- name: low_confidence
select n.id, n.content, n.confidence from distilled_notes n
where {live_note} and n.confidence < %(low)s and n.project is distinct from 'argus-canary'
  and (%(project)s::text is null or n.project = %(project)s)
order by n.confidence, n.id limit %(limit)s

-- name: unembedded
select n.id, n.content from distilled_notes n
where {live_note} and n.project is distinct from 'argus-canary'
  and (%(project)s::text is null or n.project = %(project)s)
  and exists (select from embedding_spaces s where s.status = 'active')
  and not exists (select from note_vectors v join embedding_spaces s on s.id = v.space_id and s.status = 'active'
                  where v.note_id = n.id)
order by n.id desc limit %(limit)s

-- name: close_pairs
-- Pairs that dedup looked at and left apart, both still live, the closest first: it compares each new note with its
-- neighbours, so that no pair above its floor is missing here.
select l.note_id, l.other_id, max(l.similarity) as similarity, n.content as note, o.content as other, n.project,
       n.said_at as note_said_at, o.said_at as other_said_at, bool_or(l.status = 'pending') as waits
from dedup_log l
join distilled_notes n on n.id = l.note_id
join distilled_notes o on o.id = l.other_id
where l.similarity >= %(floor)s and (l.verdict = 'distinct' or l.status in ('pending', 'rejected'))
  and n.deleted_at is null and n.excluded_at is null and o.deleted_at is null and o.excluded_at is null
  and (%(project)s::text is null or n.project = %(project)s)
group by l.note_id, l.other_id, n.content, o.content, n.project, n.said_at, o.said_at
order by similarity desc, l.note_id desc
limit %(limit)s

-- name: orphans
-- Nothing near it, nothing linked to it, and no recall ever showed it: the first of them, and how many there are.
select n.id, n.content, page.found
from (
    select n.id, count(*) over ()::int as found from distilled_notes n
    where {live_note} and n.shown_count = 0 and n.links = '{}' and n.pinned_at is null
      and n.project is distinct from 'argus-canary' and (%(project)s::text is null or n.project = %(project)s)
      and not exists (select from dedup_log l where l.note_id = n.id and l.similarity is not null)
      and not exists (select from dedup_log l where l.other_id = n.id and l.similarity is not null)
      and not exists (select from distilled_notes m where m.superseded_by = n.id)
    order by n.id desc limit %(limit)s
) as page
join distilled_notes n on n.id = page.id
order by page.id desc

-- name: ungrounded
-- Quotations that the redaction of their source left without a place; only what was redacted can be so.
select n.id, n.content from distilled_notes n join raw_items r on r.id = n.raw_id
where {live_note} and (%(project)s::text is null or n.project = %(project)s)
  and r.id in (select raw_id from redactions where kind = 'request' and raw_id is not null)
  and position(n.source_ref in r.body) = 0
order by n.id desc

-- name: uses_since
select count(*)::int as judged, count(*) filter (where u.used)::int as used
from injection_uses u join distilled_notes n on n.id = u.note_id
where u.at > %(since)s and (%(project)s::text is null or n.project = %(project)s)

-- name: insert_health
insert into memory_health (at, project, score, parts) values (%(now)s, %(project)s, %(score)s, %(parts)s)

-- name: health_history
select at, score, parts from memory_health
where project is not distinct from %(project)s order by at desc limit %(limit)s

-- name: graph_notes
-- The nodes: live notes of a project, the most important first, or those around one note, which is the first. The ids
-- alone are sorted; `found` counts all there are.
select n.id, n.title, n.content, n.category, n.project, n.importance, n.said_at, n.pinned_at is not null as pinned,
       n.deleted_at is not null as gone, page.found
from (
    select n.id, row_number() over wanted as place, count(*) over ()::int as found
    from distilled_notes n
    where (n.id = any(%(ids)s::bigint[]) or (%(ids)s::bigint[] is null and {live_note}))
      and n.excluded_at is null and n.redacted_at is null
      and coalesce(n.deleted_reason, 'superseded') in ('superseded', 'corrected')
      and n.project is distinct from 'argus-canary' and (%(project)s::text is null or n.project = %(project)s)
    window wanted as (
        order by coalesce(n.id = %(first)s::bigint, false) desc, n.importance desc, n.said_at desc, n.id desc
    )
    order by place limit %(limit)s
) as page
join distilled_notes n on n.id = page.id
order by page.place

-- name: graph_similar
-- Pairs of these notes at most so far apart in meaning.
select a.note_id as note_id, b.note_id as other_id, 1 - (a.embedding <=> b.embedding) as similarity
from note_vectors a join note_vectors b on b.space_id = a.space_id and b.note_id > a.note_id
where a.space_id = %(space)s and a.note_id = any(%(ids)s) and b.note_id = any(%(ids)s)
  and (a.embedding <=> b.embedding) <= %(distance)s
order by similarity desc, a.note_id, b.note_id

-- name: graph_superseded
-- What these notes stand in the place of.
select n.superseded_by as note_id, n.id as other_id from distilled_notes n
where n.superseded_by = any(%(ids)s) and n.deleted_reason in ('superseded', 'corrected')
  and n.excluded_at is null and n.redacted_at is null
order by 1, 2

-- name: graph_neighbours
-- One step from these notes: near by dedup's own log, or superseding and superseded.
select l.other_id as id from dedup_log l where l.note_id = any(%(ids)s) and l.similarity is not null
union
select l.note_id from dedup_log l where l.other_id = any(%(ids)s) and l.similarity is not null
union
select n.superseded_by from distilled_notes n where n.id = any(%(ids)s) and n.superseded_by is not null
union
select n.id from distilled_notes n where n.superseded_by = any(%(ids)s)
