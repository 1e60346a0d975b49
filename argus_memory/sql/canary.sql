-- name: begin_canary
insert into canary_runs (marker, session, sent_at) values (%(marker)s, %(session)s, %(now)s)

-- name: find_captured
select id, project, captured_at from raw_items where session = %(session)s order by id limit 1

-- name: canary_captured
update canary_runs set captured_at = %(at)s where marker = %(marker)s

-- name: end_canary
update canary_runs
set outcome = %(outcome)s, recalled_at = %(recalled_at)s, failed_at_step = %(step)s, detail = %(detail)s
where marker = %(marker)s

-- name: last_sent
select sent_at, outcome from canary_runs order by sent_at desc, id desc limit 1
