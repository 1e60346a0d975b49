-- name: lock_note
select n.id, n.uid, n.text_key, n.content, n.category, n.project, n.role, n.confidence, n.raw_id, n.source_start,
       n.source_end, n.pinned_at, n.excluded_at, n.confirmed_at, n.deleted_at, n.deleted_reason, n.superseded_by
from distilled_notes n
where n.id = %(id)s
for update

-- name: insert_decision
insert into note_decisions (
    at, decision, status, uid, text_key, content, category, project, note_id, raw_id, source_start, source_end,
    new_text, new_note_id, arrival, actor, actor_kind, reason
)
values (
    %(now)s, %(decision)s, %(status)s, %(uid)s, %(text_key)s, %(content)s, %(category)s, %(project)s, %(note_id)s,
    %(raw_id)s, %(source_start)s, %(source_end)s, %(new_text)s, %(new_note_id)s, %(arrival)s, %(actor)s,
    %(actor_kind)s, %(reason)s
)
returning id

-- name: overtake
-- Earlier decisions of the same kind on the same fact: on its uid, and where a fact comes back, on its text.
update note_decisions
set status = 'overtaken', decided_by = %(actor)s, decided_at = %(now)s
where status = 'in-force' and decision = any(%(decisions)s) and id <> %(id)s
  and (uid = %(uid)s or (%(by_text)s and text_key = %(text_key)s))

-- name: pin
update distilled_notes set pinned_at = %(now)s where id = %(id)s

-- name: unpin
update distilled_notes set pinned_at = null where id = %(id)s

-- name: exclude
-- Dedup has nothing to do with a note that no recall shows.
update distilled_notes set excluded_at = %(now)s, deduped_at = coalesce(deduped_at, %(now)s) where id = %(id)s

-- name: include
update distilled_notes set excluded_at = null, deduped_at = null where id = %(id)s

-- name: forget
update distilled_notes
set deleted_at = %(now)s, deleted_reason = 'forgotten', superseded_by = null, deduped_at = %(now)s
where id = %(id)s

-- name: restore
-- Dedup looks at it again: another note may have taken its place meanwhile.
update distilled_notes
set deleted_at = null, deleted_reason = null, superseded_by = null, deduped_at = null
where id = %(id)s

-- name: confirm
update distilled_notes set confirmed_at = %(now)s where id = %(id)s

-- name: in_force
-- What is in force about these facts: about their uid or text, or about a text that shares words with one of them.
-- `place` is the fact's, from 0; `shared` how many words it shares, null for a uid or text that is the same.
-- A sentence of four words or more shares at least two with what it says again: pairs of its longest words lead to few
-- decisions, a single common word to most of them.
with said as (
    select place - 1 as place, uid, text_key, project, tsvector_to_array(to_tsvector('english', content)) as words
    from unnest(%(uids)s::text[], %(text_keys)s::text[], %(projects)s::text[], %(contents)s::text[])
        with ordinality as a (uid, text_key, project, content, place)
),
asked as (
    select s.*, (
        with long as (select w from unnest(s.words) w order by length(w) desc, w limit 12)
        select case when cardinality(s.words) < 4 then (select string_agg(quote_literal(w), ' | ') from long)
            else (select string_agg(quote_literal(x.w) || ' & ' || quote_literal(y.w), ' | ')
                  from long x join long y on x.w < y.w) end::tsquery
    ) as leads
    from said s
)
select a.place::int, d.id, d.decision, d.uid, d.text_key, d.content, d.project, d.note_id, d.new_text, d.new_note_id,
       null::int as shared
from asked a join note_decisions d on d.status = 'in-force' and (d.uid = a.uid or d.text_key = a.text_key)
-- A note that stands without the words that were taken out of it is not kept out.
where d.decision <> 'redact' or not exists (
    select from distilled_notes n where n.id = d.note_id and n.deleted_at is null)
union all
select a.place::int, d.id, d.decision, d.uid, d.text_key, d.content, d.project, d.note_id, d.new_text, d.new_note_id,
       d.shared
from asked a cross join lateral (
    select c.*, common.shared
    from note_decisions c
    cross join lateral (select count(*)::int as shared from unnest(c.words) w where w = any(a.words)) as common
    -- A repeat says most of it in the same words; in a short one a word in another form is already a third.
    where common.shared * case when least(cardinality(c.words), cardinality(a.words)) < 5 then 3 else 2 end
          >= least(cardinality(c.words), cardinality(a.words))
      and c.decision in ('forget', 'reject', 'correct', 'redact', 'exclude') and c.status = 'in-force'
      and array_to_tsvector(c.words) @@ a.leads
      and c.uid <> a.uid and c.text_key <> a.text_key
      and (c.project is not distinct from a.project or c.project is null or a.project is null
           or c.project = 'global' or a.project = 'global')
    order by common.shared desc, c.id desc limit %(limit)s
) d
order by place, shared desc nulls first, id

-- name: withhold
insert into withheld_turns (raw_id, note_id, reason, at)
select unnest(%(raw_ids)s::bigint[]), %(note_id)s, %(reason)s, %(now)s
on conflict do nothing

-- name: arrival_items
-- Which of these items belong to an arrival that was forgotten as a whole.
select distinct raw_id from withheld_turns where arrival is not null and raw_id = any(%(raw_ids)s)

-- name: carry_decisions
-- A note made anew bears what was decided of its fact before.
update distilled_notes n
set excluded_at = case when %(excluded)s then coalesce(n.excluded_at, %(now)s) else n.excluded_at end,
    pinned_at = case when %(pinned)s then coalesce(n.pinned_at, %(now)s) else n.pinned_at end,
    deduped_at = case when %(excluded)s then coalesce(n.deduped_at, %(now)s) else n.deduped_at end
where n.id = %(id)s

-- name: tombstone_repeat
-- A note that says again what was taken away before.
update distilled_notes
set deleted_at = %(now)s, deleted_reason = %(reason)s, deduped_at = %(now)s
where id = %(id)s and deleted_at is null

-- name: live_repeats
-- Other standing notes that may say the same: the same text anywhere, and in the same project those that share most
-- words. Also those that begin to hold later by a clock that went back, or are excluded.
select n.id, n.content, true as exact
from distilled_notes n
where n.deleted_at is null and n.id <> %(id)s and (n.text_key = %(text_key)s or n.uid = %(uid)s)
union all
(select n.id, n.content, false
 from distilled_notes n
 where n.deleted_at is null and n.id <> %(id)s and n.text_key <> %(text_key)s and n.uid <> %(uid)s
   and n.project is not distinct from %(project)s
   and n.tsv @@ (select string_agg(quote_literal(lexeme), ' | ')::tsquery from unnest(argus_tsvector(%(content)s)))
 order by (select count(*) from unnest(tsvector_to_array(n.tsv)) w
           where w = any(tsvector_to_array(argus_tsvector(%(content)s)))) desc, n.id desc
 limit %(limit)s)

-- name: like_turns
-- Turns of the same project that share most words with the fact.
select t.raw_id, r.body
from turns t join raw_items r on r.id = t.raw_id
where t.project is not distinct from %(project)s
  and t.tsv @@ (select string_agg(quote_literal(lexeme), ' | ')::tsquery from unnest(argus_tsvector(%(content)s)))
order by (select count(*) from unnest(tsvector_to_array(t.tsv)) w
          where w = any(tsvector_to_array(argus_tsvector(%(content)s)))) desc, t.raw_id desc
limit %(limit)s

-- name: list_held
select d.id, d.at, d.decision, d.note_id, d.content, d.project, d.actor, d.reason, d.new_text, n.confidence,
       n.pinned_at is not null as pinned, n.role
from note_decisions d left join distilled_notes n on n.id = d.note_id
where d.status = 'held'
order by d.id desc
limit %(limit)s

-- name: lock_decision
select id, decision, status, uid, text_key, note_id, new_text, reason, actor, decided_by from note_decisions where id = %(id)s for update

-- name: settle
update note_decisions set status = %(status)s, decided_by = %(actor)s, decided_at = %(now)s where id = %(id)s

-- name: count_arrival
-- What a bulk forget would take away: live notes, and raw items.
select count(*)::int as raw_items, coalesce(sum(notes), 0)::int as notes, min(said_at) as first, max(said_at) as last
from (
    select r.said_at, (select count(*) from distilled_notes n where n.raw_id = r.id and n.deleted_at is null) as notes
    from raw_items r
    where (%(source)s::text is null or r.source = %(source)s)
      and (%(session)s::text is null or r.session = %(session)s)
      and (%(project)s::text is null
       or coalesce((select t.project from turns t where t.raw_id = r.id), r.project) = %(project)s
       or exists (select from distilled_notes n where n.raw_id = r.id and n.project = %(project)s))
      and (%(since)s::timestamptz is null or r.captured_at >= %(since)s)
      and not exists (select from withheld_turns w where w.raw_id = r.id and w.arrival is not null)
) found

-- name: insert_arrival
insert into forgotten_arrivals (at, source, session, project, since, raw_items, notes, actor, reason)
values (%(now)s, %(source)s, %(session)s, %(project)s, %(since)s, 0, 0, %(actor)s, %(reason)s)
returning id

-- name: withhold_arrival
insert into withheld_turns (raw_id, arrival, reason, at)
select r.id, %(arrival)s, 'forgotten', %(now)s
from raw_items r
where (%(source)s::text is null or r.source = %(source)s)
  and (%(session)s::text is null or r.session = %(session)s)
  and (%(project)s::text is null
       or coalesce((select t.project from turns t where t.raw_id = r.id), r.project) = %(project)s
       or exists (select from distilled_notes n where n.raw_id = r.id and n.project = %(project)s))
  and (%(since)s::timestamptz is null or r.captured_at >= %(since)s)
  and not exists (select from withheld_turns w where w.raw_id = r.id and w.arrival is not null)

-- name: arrival_notes
select n.id from withheld_turns w join distilled_notes n on n.raw_id = w.raw_id
where w.arrival = %(arrival)s and n.deleted_at is null
order by n.id

-- name: finish_arrival
update forgotten_arrivals set raw_items = %(raw_items)s, notes = %(notes)s where id = %(id)s

-- name: lock_arrival
select * from forgotten_arrivals where id = %(id)s for update

-- name: arrival_decisions
select d.id, d.note_id, n.deleted_reason from note_decisions d join distilled_notes n on n.id = d.note_id
where d.arrival = %(arrival)s and d.decision = 'forget' and d.status = 'in-force'
order by d.id

-- name: lift_arrival
delete from withheld_turns where arrival = %(arrival)s

-- name: restored_arrival
update forgotten_arrivals set restored_at = %(now)s, restored_by = %(actor)s where id = %(id)s

-- name: list_arrivals
select id, at, source, session, project, since, raw_items, notes, actor, reason, restored_at, restored_by
from forgotten_arrivals order by id desc limit %(limit)s
