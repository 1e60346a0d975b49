-- name: reports_of
select rid, outcome from task_runs where task = %(task)s and dagster_run_id = %(run_id)s

-- name: open_job_alerts
select subject, opened_at from alerts where kind = %(kind)s and closed_at is null order by opened_at, id
