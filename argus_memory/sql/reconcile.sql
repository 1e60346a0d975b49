-- name: days
-- Days with notes, those never compared first, then the longest ago; among equals the newest.
select d.day
from (
    select distinct (said_at at time zone 'UTC')::date as day
    from distill_state
    where status = 'done' and notes_created > 0 and project is distinct from 'argus-canary'
) d
left join lateral (
    select max(r.started_at) as at
    from regenerations r
    where r.mode = 'reconcile' and r.status in ('shown', 'switched', 'held', 'dismissed')
      and d.day between r.first_day and r.last_day
) seen on true
where d.day < %(before)s
order by seen.at nulls first, d.day desc
