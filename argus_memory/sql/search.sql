-- The two tracks over notes and over turns. {bm25} is written out for the query's terms (stages/recall_tracks.py),
-- {space} and {vector} are literals, so that the partial index of one space is used. %(project)s null: all projects.

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

-- name: notes_lexical
select n.id, {bm25} as bm25
from distilled_notes n cross join lateral (select {norm} as norm) as doc
where n.tsv @@ %(rare)s::tsquery and {live_note} and n.project is distinct from 'argus-canary'
  and (%(project)s::text is null or n.project = %(project)s)
order by bm25 desc, n.id limit %(limit)s;

-- name: notes_semantic
select n.id, 1 - (v.embedding::{vector} <=> %(vector)s::{vector}) as cosine
from note_vectors v join distilled_notes n on n.id = v.note_id
where v.space_id = {space} and {live_note} and n.project is distinct from 'argus-canary'
  and (%(project)s::text is null or n.project = %(project)s)
order by v.embedding::{vector} <=> %(vector)s::{vector} limit %(limit)s;

-- name: notes_semantic_within
-- The same within one project, exact: the index would walk through all the others.
with inside as materialized (
    select n.id from distilled_notes n
    where n.project = %(project)s and {live_note}
    order by n.id desc limit %(bound)s
)
select i.id, 1 - (v.embedding::{vector} <=> %(vector)s::{vector}) as cosine
from inside i join note_vectors v on v.space_id = {space} and v.note_id = i.id
order by cosine desc limit %(limit)s;

-- name: notes_details
-- What ranking needs of the candidates of both tracks, each scored in full.
select n.id, n.raw_id, n.project, n.title, n.content, n.said_at, r.kind, {bm25} as bm25, {cosine} as cosine
from distilled_notes n
join raw_items r on r.id = n.raw_id
left join note_vectors v on v.space_id = {space} and v.note_id = n.id
cross join lateral (select {norm} as norm) as doc
where n.id = any(%(ids)s);

-- name: turns_lexical
-- The canary's turns are found by who asks for its project, `argus doctor`, and by nobody else.
select n.raw_id as id, {bm25} as bm25
from turns n cross join lateral (select {norm} as norm) as doc
where n.tsv @@ %(rare)s::tsquery and (n.project is distinct from 'argus-canary' or n.project = %(project)s)
  and (%(project)s::text is null or n.project = %(project)s)
  and (%(session)s::text is null or n.session <> %(session)s)
order by bm25 desc, n.raw_id limit %(limit)s;

-- name: turns_semantic
select n.raw_id as id, 1 - (v.embedding::{vector} <=> %(vector)s::{vector}) as cosine
from turn_vectors v join turns n on n.raw_id = v.raw_id
where v.space_id = {space} and (n.project is distinct from 'argus-canary' or n.project = %(project)s)
  and (%(project)s::text is null or n.project = %(project)s)
  and (%(session)s::text is null or n.session <> %(session)s)
order by v.embedding::{vector} <=> %(vector)s::{vector} limit %(limit)s;

-- name: turns_semantic_within
with inside as materialized (
    select n.raw_id from turns n
    where n.project = %(project)s and (%(session)s::text is null or n.session <> %(session)s)
    order by n.said_at desc limit %(bound)s
)
select i.raw_id as id, 1 - (v.embedding::{vector} <=> %(vector)s::{vector}) as cosine
from inside i join turn_vectors v on v.space_id = {space} and v.raw_id = i.raw_id
order by cosine desc limit %(limit)s;

-- name: turns_windows
-- Each candidate with the turns before and after it in its session, in the order said.
select n.raw_id as id, array(
    select b.raw_id from (
        select e.* from turns e
        where e.session = n.session and (e.said_at, e.position, e.raw_id) < (n.said_at, n.position, n.raw_id)
        order by e.said_at desc, e.position desc, e.raw_id desc limit %(reach)s
    ) as b order by b.said_at, b.position, b.raw_id
) as before, array(
    select e.raw_id from turns e
    where e.session = n.session and (e.said_at, e.position, e.raw_id) > (n.said_at, n.position, n.raw_id)
    order by e.said_at, e.position, e.raw_id limit %(reach)s
) as after
from turns n where n.raw_id = any(%(ids)s);

-- name: turns_details
select n.raw_id as id, n.session, n.role, n.speaker, n.asks, n.chars, n.said_at, n.project,
       {bm25} as bm25, {cosine} as cosine, n.tsv @@ %(time_words)s::tsquery as has_time
from turns n
left join turn_vectors v on v.space_id = {space} and v.raw_id = n.raw_id
cross join lateral (select {norm} as norm) as doc
where n.raw_id = any(%(ids)s)
order by n.session, n.said_at, n.position, n.raw_id;

-- name: time_words
select to_tsquery(argus_text_config(), %(words)s)::text as query;

-- name: turn_bodies
select t.raw_id, t.role, t.speaker, t.session, t.project, t.said_at, left(r.body, %(chars)s) as body
from turns t join raw_items r on r.id = t.raw_id where t.raw_id = any(%(ids)s);

-- name: index_settings
select set_config('hnsw.ef_search', %(ef_search)s, true), set_config('hnsw.iterative_scan', 'relaxed_order', true);
