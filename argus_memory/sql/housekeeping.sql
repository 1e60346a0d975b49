-- Days that hold data, each with one count, for the partitions of the asset catalogue.

-- name: days_captured
select (said_at at time zone 'UTC')::date as day, count(*)::int as captured
from raw_items where project is distinct from 'argus-canary'
group by 1 order by 1

-- name: days_of_turn_vectors
select (t.said_at at time zone 'UTC')::date as day, count(*)::int as vectors
from turn_vectors v
join embedding_spaces s on s.id = v.space_id and s.status = 'active'
join turns t on t.raw_id = v.raw_id
group by 1 order by 1

-- name: days_of_episodes
select day, count(*)::int as episodes from episodes where replaced_at is null group by 1 order by 1

-- name: days_distilled
select (said_at at time zone 'UTC')::date as day, count(*)::int as units, coalesce(sum(notes_created), 0)::int as notes
from distill_state where status = 'done' group by 1 order by 1

-- name: days_of_note_vectors
select (n.said_at at time zone 'UTC')::date as day, count(*)::int as vectors
from note_vectors v
join embedding_spaces s on s.id = v.space_id and s.status = 'active'
join distilled_notes n on n.id = v.note_id
group by 1 order by 1
