-- name: reserve_pass_id
select nextval(pg_get_serial_sequence('stage_passes', 'id')) as id

-- name: insert_pass
insert into stage_passes (id, stage, started_at, finished_at, outcome, counts, error, run_id)
overriding system value
values (
    coalesce(%(id)s::bigint, nextval(pg_get_serial_sequence('stage_passes', 'id'))),
    %(stage)s, %(started_at)s, %(finished_at)s, %(outcome)s, %(counts)s, %(error)s, %(run_id)s
)
returning id
