-- /ui/injections and /ui/injections/{id}: what was handed to sessions. {wanted} is the condition of the filters, one for
-- the rows and their count; {outcome} within it that of an outcome. The canary's recalls are nobody's.

-- name: wanted
i.project is distinct from 'argus-canary'
  and (%(session)s::text is null or i.session = %(session)s)
  and (%(project)s::text is null or i.project = %(project)s)
  and (%(prompt_mode)s::boolean is null or i.prompt_mode = %(prompt_mode)s)
  and (%(note)s::bigint is null or i.note_ids @> array[%(note)s::bigint])
  and {outcome}

-- name: rows
-- The page's ids first, then what became of each note that was shown.
select i.id, i.at, i.session, i.project, left(i.query, 400) as query, i.prompt_mode, i.skipped, i.degraded,
       cardinality(i.turn_ids)::int as turns, jsonb_array_length(i.dropped)::int as dropped, i.characters,
       i.milliseconds, c.outcome, page.sort_key,
       coalesce((
           select jsonb_agg(jsonb_build_object('id', shown.id, 'used', u.used, 'text', left(n.content, 200),
                                               'gone', n.deleted_at is not null) order by shown.place)
           from unnest(i.note_ids) with ordinality as shown (id, place)
           left join distilled_notes n on n.id = shown.id
           left join injection_uses u on u.injection_id = i.id and u.note_id = shown.id
       ), '[]') as notes
from (
    select i.id, {key} as sort_key from injections i
    where {wanted} and {after}
    order by {order} limit %(limit)s
) as page
join injections i on i.id = page.id
left join injection_checks c on c.injection_id = i.id
order by page.sort_key {direction}, i.id {direction}

-- name: count
select count(*)::int as total from injections i where {wanted}

-- name: score_buckets
-- Candidates of the last prompt recalls on the scale of plain RRF, in buckets: notes that were kept, and what was dropped,
-- by reason. Of turns that were kept no such score is stored.
with last as materialized (
    select i.note_ids, i.rrf_scores, i.dropped from injections i
    where i.prompt_mode and i.project is distinct from 'argus-canary'
      and (%(project)s::text is null or i.project = %(project)s)
      and (i.skipped is null or i.skipped = 'nothing-on-record')
    order by i.id desc limit %(last)s
), candidates as (
    select 'kept' as what, k.score from last cross join unnest(last.rrf_scores) as k (score)
    union all
    select d.reason, d.rrf_score from last
    cross join jsonb_to_recordset(last.dropped) as d (rrf_score real, reason text)
)
select what, least(greatest(floor(score / %(width)s::float8)::int, 0), %(buckets)s - 1) as bucket, count(*)::int as number
from candidates where score is not null group by 1, 2 order by 1, 2

-- name: floor_changes
-- What another relevance floor would have done to the last prompt recalls, from the candidates they stored.
with last as materialized (
    select i.id, i.rrf_scores, i.dropped, i.note_ids, i.turn_ids, i.floor from injections i
    where i.prompt_mode and i.project is distinct from 'argus-canary'
      and (%(project)s::text is null or i.project = %(project)s)
      and (i.skipped is null or i.skipped = 'nothing-on-record')
    order by i.id desc limit %(last)s
), each as (
    select last.id, cardinality(last.note_ids) as kept,
           cardinality(last.note_ids) + cardinality(last.turn_ids) as shown, cardinality(last.turn_ids) as turns, last.floor,
           (select count(*) from unnest(last.rrf_scores) as k (score) where k.score < %(floor)s::real) as lost,
           (select count(*) from jsonb_to_recordset(last.dropped) as d (rrf_score real, reason text)
            where d.reason = 'relevance-floor' and d.rrf_score >= %(floor)s::real) as gained
    from last
)
select count(*)::int as recalls, coalesce(sum(kept), 0)::int as kept, coalesce(sum(turns), 0)::int as turns,
       coalesce(sum(lost), 0)::int as lost, count(*) filter (where lost > 0)::int as losing,
       count(*) filter (where lost > 0 and lost = shown)::int as emptied,
       coalesce(sum(gained), 0)::int as gained, count(*) filter (where gained > 0)::int as gaining,
       count(*) filter (where gained > 0 and shown = 0)::int as filled,
       min(floor) as least_floor, max(floor) as most_floor,
       (array_agg(id order by id desc) filter (where lost > 0))[1:5] as losing_ids,
       (array_agg(id order by id desc) filter (where gained > 0))[1:5] as gaining_ids
from each

-- name: one
select i.id, i.at, i.session, i.query, i.cwd, i.project, i.prompt_mode, i.note_ids, i.note_scores, i.rrf_scores,
       i.turn_ids, i.turn_scores, i.dropped, i.skipped, i.degraded, i.floor, i.characters, i.milliseconds, i.host,
       c.outcome, c.at as checked_at, c.answer_ids,
       (select max(b.id) from injections b where b.session = i.session and b.id < i.id) as before,
       (select min(b.id) from injections b where b.session = i.session and b.id > i.id) as after
from injections i left join injection_checks c on c.injection_id = i.id
where i.id = %(id)s

-- name: notes_of
select n.id, left(n.content, 1200) as content, n.category, n.project, n.raw_id, n.deleted_at, n.deleted_reason,
       n.valid_from, n.valid_to, n.excluded_at, n.superseded_by, u.used, u.score as use_score, u.turn_raw_id
from distilled_notes n left join injection_uses u on u.note_id = n.id and u.injection_id = %(id)s
where n.id = any(%(ids)s)

-- name: turns_of
select r.id, left(r.body, 1200) as content, r.project, r.said_at, t.role, t.speaker,
       (select w.reason from withheld_turns w where w.raw_id = r.id order by w.at desc limit 1) as withheld
from raw_items r left join turns t on t.raw_id = r.id where r.id = any(%(ids)s)
