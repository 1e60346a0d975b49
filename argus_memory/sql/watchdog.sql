-- name: sample_health
-- A row where a check's status changed, and one an hour.
insert into health_samples (at, name, status, detail)
select %(now)s, c.name, c.status, c.detail
from unnest(%(names)s::text[], %(statuses)s::text[], %(details)s::text[]) as c (name, status, detail)
left join lateral (
    select s.status, s.at from health_samples s where s.name = c.name order by s.at desc, s.id desc limit 1
) last on true
where last.status is null or last.status <> c.status or last.at <= %(now)s - %(pace)s

-- name: health_since
-- From when on each check has had its status, as far back as %(look)s goes.
select c.name,
       (select min(s.at) from health_samples s
        where s.name = c.name and s.at > %(now)s - %(look)s and s.at > coalesce(
            (select max(d.at) from health_samples d
             where d.name = c.name and d.status <> c.status and d.at > %(now)s - %(look)s), '-infinity')) as since
from unnest(%(names)s::text[], %(statuses)s::text[]) as c (name, status)

-- name: open_subjects
select subject from alerts where kind = %(kind)s and closed_at is null

-- name: hook_activity
-- What shows that sessions of a machine go on, and when anything of it last arrived, a row for each wired program.
-- `prompts`: recalls asked for in sessions nothing of which arrived; told to a program by the session's mark, else to
-- the only one there is. Probes and tasks are no one's sessions.
with recent as (
    select metadata ->> 'host' as host, source, max(captured_at) as at
    from raw_items
    where captured_at > %(now)s - %(look)s and kind = 'turn' and project is distinct from 'argus-canary'
    group by 1, 2
),
skipped as (
    select m.host, o.source, max(o.at) as at
    from capture_outcomes o join session_marks m on m.session = o.session
    where o.at > %(now)s - %(look)s and o.outcome <> 'refused' and m.host is not null
    group by 1, 2
),
arrived as (
    select host, source, max(at) as at from (select * from recent union all select * from skipped) a group by 1, 2
),
asked as (
    select i.session, count(*)::int as prompts, min(i.at) as first_at, max(i.at) as last_at
    from injections i
    where i.at > %(now)s - %(look)s and i.at < %(now)s - %(lag)s and i.prompt_mode
      and i.skipped is distinct from 'system-turn' and i.session is not null
      and i.project is distinct from 'argus-canary' and i.session not like 'task/%%'
      and not exists (select from raw_items r where r.session = i.session)
      and not exists (select from capture_outcomes o where o.session = i.session and o.at > %(now)s - %(look)s)
    group by i.session
),
placed as (
    select coalesce(m.host, one.host) as host, coalesce(m.source, one.target) as target, a.*
    from asked a
    left join lateral (
        select host, source from session_marks where session = a.session and host is not null order by at desc limit 1
    ) m on true
    left join lateral (
        select min(host) as host, min(target) as target from hook_heartbeats
        where at > %(now)s - interval '30 days' having count(*) = 1
    ) one on true
)
select h.host, h.target, h.event, h.at as heard_at, a.at as arrived_at,
       coalesce(sum(p.prompts) filter (where a.at is null or a.at < p.first_at), 0)::int as prompts,
       min(p.first_at) filter (where a.at is null or a.at < p.first_at) as first_prompt_at,
       coalesce(array_agg(p.session order by p.last_at desc) filter (where a.at is null or a.at < p.first_at), '{}')
           as sessions
from hook_heartbeats h
left join arrived a on a.host = h.host and a.source = h.target
left join placed p on p.host = h.host and p.target = h.target
where h.at > %(now)s - %(look)s or p.session is not null
group by h.host, h.target, h.event, h.at, a.at
order by h.host, h.target
