-- name: insert_result
insert into audit_results (audit, asset, at, status, severity, total, offending, detail, run_id)
values (%(audit)s, %(asset)s, %(now)s, %(status)s, %(severity)s, %(total)s, %(offending)s, %(detail)s, %(run_id)s)

-- name: forget_results
delete from audit_results where at < %(before)s

-- name: forget_measurements
delete from slo_measurements where at < %(before)s

-- name: forget_samples
delete from health_samples where at < %(before)s
