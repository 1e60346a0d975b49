-- The two tracks over notes and over turns. {bm25} is written out for the query's terms (stages/recall_tracks.py),
-- {space} and {vector} are literals, so that the partial index of one space is used. {shown_turn}: of turns n. %(project)s null: all projects.

-- name: known_speakers
-- Which of the question's words are the first name of someone who speaks here, and has done so a few times.
select lower(split_part(speaker, ' ', 1)) as name
from (
    select speaker from turns
    where speaker is not null and lower(split_part(speaker, ' ', 1)) = any(%(words)s)
      and (%(project)s::text is null or project = %(project)s)
    limit 2000
) as few
group by 1 having count(*) >= 3;

-- name: name_lexemes
select distinct term.lexeme from unnest(argus_tsvector(%(names)s)) as term;

-- name: project_turns
-- How many turns a project has, up to a bound.
select count(*)::int as rows from (select from turns where project = %(project)s limit %(bound)s) as few;

-- name: project_notes
select count(*)::int as rows
from (select from distilled_notes where deleted_at is null and project = %(project)s limit %(bound)s) as few;

-- name: notes_found
-- Candidates of both tracks, each scored on both: what one track has computed is not computed again. A note of an
-- episode is made of turns.
with lexical as materialized (
    select n.id, {bm25} as bm25
    from distilled_notes n cross join lateral (select {norm} as norm) as doc
    where n.tsv @@ %(rare)s::tsquery and {live_note} and n.project is distinct from 'argus-canary'
      and (%(project)s::text is null or n.project = %(project)s)
    order by bm25 desc, n.id limit %(limit)s
),
semantic as materialized ({semantic})
select n.id, n.raw_id, n.project, n.title, n.content, n.said_at,
       l.id is not null as by_words, s.id is not null as by_meaning,
       coalesce(l.bm25, {bm25}) as bm25, coalesce(s.cosine, {cosine}) as cosine,
       case when n.episode_id is null then (select r.kind from raw_items r where r.id = n.raw_id) else 'turn' end as kind
from lexical l full join semantic s on s.id = l.id
join distilled_notes n on n.id = coalesce(l.id, s.id)
left join note_vectors v on s.id is null and v.space_id = {space} and v.note_id = n.id
cross join lateral (select {norm} as norm) as doc;

-- name: notes_nearest
select n.id, 1 - (v.embedding::{vector} <=> %(vector)s::{vector}) as cosine
from note_vectors v join distilled_notes n on n.id = v.note_id
where v.space_id = {space} and {live_note} and n.project is distinct from 'argus-canary'
  and (%(project)s::text is null or n.project = %(project)s)
order by v.embedding::{vector} <=> %(vector)s::{vector} limit %(limit)s

-- name: notes_nearest_within
-- The same within one project, exact: the index would walk through all the others.
select i.id, 1 - (v.embedding::{vector} <=> %(vector)s::{vector}) as cosine
from (
    select n.id from distilled_notes n
    where n.project = %(project)s and {live_note} and n.project is distinct from 'argus-canary'
    order by n.id desc limit %(bound)s
) as i join note_vectors v on v.space_id = {space} and v.note_id = i.id
order by cosine desc limit %(limit)s

-- name: turns_found
-- The canary's turns are found by who asks for its project, `argus doctor`, and by nobody else.
with lexical as materialized (
    select n.raw_id as id, {bm25} as bm25
    from turns n cross join lateral (select {norm} as norm) as doc
    where n.tsv @@ %(rare)s::tsquery and (n.project is distinct from 'argus-canary' or n.project = %(project)s)
      and (%(project)s::text is null or n.project = %(project)s)
      and (%(session)s::text is null or n.session <> %(session)s) and {shown_turn}
    order by bm25 desc, n.raw_id limit %(limit)s
),
semantic as materialized ({semantic})
select n.raw_id as id, n.session, n.role, n.speaker, n.asks, n.chars, n.said_at, n.project,
       l.id is not null as by_words, s.id is not null as by_meaning,
       coalesce(l.bm25, {bm25}) as bm25, coalesce(s.cosine, {cosine}) as cosine,
       n.tsv @@ (select to_tsquery(argus_text_config(), %(time_words)s)) as has_time
from lexical l full join semantic s on s.id = l.id
join turns n on n.raw_id = coalesce(l.id, s.id)
left join turn_vectors v on s.id is null and v.space_id = {space} and v.raw_id = n.raw_id
cross join lateral (select {norm} as norm) as doc;

-- name: turns_nearest
select n.raw_id as id, 1 - (v.embedding::{vector} <=> %(vector)s::{vector}) as cosine
from turn_vectors v join turns n on n.raw_id = v.raw_id
where v.space_id = {space} and (n.project is distinct from 'argus-canary' or n.project = %(project)s)
  and (%(project)s::text is null or n.project = %(project)s)
  and (%(session)s::text is null or n.session <> %(session)s) and {shown_turn}
order by v.embedding::{vector} <=> %(vector)s::{vector} limit %(limit)s

-- name: turns_nearest_within
select i.raw_id as id, 1 - (v.embedding::{vector} <=> %(vector)s::{vector}) as cosine
from (
    select n.raw_id from turns n
    where n.project = %(project)s and (%(session)s::text is null or n.session <> %(session)s) and {shown_turn}
    order by n.said_at desc limit %(bound)s
) as i join turn_vectors v on v.space_id = {space} and v.raw_id = i.raw_id
order by cosine desc limit %(limit)s

-- name: nothing_near
select null::bigint as id, null::float8 as cosine where false

-- name: turns_around
-- Turns with those before and after them in their session: `place` is 0 for the turn asked for, `asked_id`.
select near.asked_id, near.place, {shown_turn} as shown,
       n.raw_id as id, n.session, n.role, n.speaker, n.asks, n.chars, n.said_at, n.project,
       {bm25} as bm25, {cosine} as cosine,
       n.tsv @@ (select to_tsquery(argus_text_config(), %(time_words)s)) as has_time
from (
    select t.raw_id as asked_id, beside.raw_id, beside.place
    from turns t cross join lateral (
        select b.raw_id, -row_number() over (order by b.said_at desc, b.position desc, b.raw_id desc) as place
        from (
            select e.raw_id, e.said_at, e.position from turns e
            where e.session = t.session and (e.said_at, e.position, e.raw_id) < (t.said_at, t.position, t.raw_id)
            order by e.said_at desc, e.position desc, e.raw_id desc limit %(reach)s
        ) as b
        union all
        select a.raw_id, row_number() over (order by a.said_at, a.position, a.raw_id) - 1
        from (
            select e.raw_id, e.said_at, e.position from turns e
            where e.session = t.session and (e.said_at, e.position, e.raw_id) >= (t.said_at, t.position, t.raw_id)
            order by e.said_at, e.position, e.raw_id limit %(reach)s + 1
        ) as a
    ) as beside
    where t.raw_id = any(%(ids)s)
) as near
join turns n on n.raw_id = near.raw_id
left join turn_vectors v on v.space_id = {space} and v.raw_id = n.raw_id
cross join lateral (select {norm} as norm) as doc
order by near.asked_id, near.place;

-- name: turn_bodies
select t.raw_id, t.role, t.speaker, t.session, t.project, t.said_at, left(r.body, %(chars)s) as body,
       (select w.reason from withheld_turns w where w.raw_id = t.raw_id order by w.at desc limit 1) as withheld
from turns t join raw_items r on r.id = t.raw_id where t.raw_id = any(%(ids)s);

-- name: index_settings
-- The indexes are in memory: with the planner's price for a random page of a disk it reads whole tables instead.
select set_config('hnsw.ef_search', %(ef_search)s, true), set_config('hnsw.iterative_scan', 'relaxed_order', true),
       set_config('random_page_cost', '1.1', true);
