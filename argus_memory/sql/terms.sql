-- name: growth
-- How many rows each track counts, and how many came since.
select s.track, s.documents, s.refreshed_at,
       case s.track when 'turn' then (select count(*) from turns where raw_id > s.last_id)
                    else (select count(*) from distilled_notes where id > s.last_id) end as since
from term_statistics s;

-- name: lock_terms
select pg_try_advisory_xact_lock(hashtext('argus term frequencies')) as got;

-- name: measure_turns
select count(*)::bigint as documents, coalesce(avg(tsv_length), 0)::real as average_length,
       coalesce(max(raw_id), 0) as last_id
from turns where project is distinct from 'argus-canary';

-- name: measure_notes
select count(*) filter (where deleted_at is null)::bigint as documents,
       coalesce(avg(tsv_length) filter (where deleted_at is null), 0)::real as average_length,
       coalesce(max(id), 0) as last_id
from distilled_notes;

-- name: clear_terms
delete from term_frequencies where track = %(track)s;

-- name: fill_turns
insert into term_frequencies (track, term, documents)
select 'turn', word, ndoc from ts_stat('select tsv from turns where project is distinct from ''argus-canary''') where ndoc >= %(least)s;

-- name: fill_notes
insert into term_frequencies (track, term, documents)
select 'note', word, ndoc from ts_stat('select tsv from distilled_notes where deleted_at is null')
where ndoc >= %(least)s;

-- name: set_statistics
insert into term_statistics (track, documents, average_length, last_id, refreshed_at)
values (%(track)s, %(documents)s, %(average_length)s, %(last_id)s, %(now)s)
on conflict (track) do update set documents = excluded.documents, average_length = excluded.average_length,
    last_id = excluded.last_id, refreshed_at = excluded.refreshed_at;

-- name: find_terms
-- The query's terms with the documents each is in, by the kept statistics; no rows where there are none.
select term.lexeme, coalesce(f.documents, 0) as documents, s.documents as whole, s.average_length
from term_statistics s
cross join unnest(argus_tsvector(%(query)s)) as term
left join term_frequencies f on f.track = s.track and f.term = term.lexeme
where s.track = %(track)s and s.documents > 0;

-- name: count_turn_terms
-- Without statistics (nothing was embedded yet): counted on the spot, up to a bound.
select term.lexeme, least(found.documents, %(bound)s)::int as documents
from unnest(argus_tsvector(%(query)s)) as term
cross join lateral (
    select count(*) as documents from (
        select from turns where tsv @@ ('''' || replace(replace(term.lexeme, '\', '\\'), '''', '''''') || '''')::tsquery limit %(bound)s
    ) as few
) as found;

-- name: count_note_terms
select term.lexeme, least(found.documents, %(bound)s)::int as documents
from unnest(argus_tsvector(%(query)s)) as term
cross join lateral (
    select count(*) as documents from (
        select from distilled_notes
        where deleted_at is null and tsv @@ ('''' || replace(replace(term.lexeme, '\', '\\'), '''', '''''') || '''')::tsquery limit %(bound)s
    ) as few
) as found;
