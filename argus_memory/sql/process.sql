-- name: passes_of_runs
select stage, outcome, counts, error, extract(epoch from finished_at - started_at)::float8 as seconds
from stage_passes
where run_id = any(%(run_ids)s)
order by id
