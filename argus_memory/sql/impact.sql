-- name: unchecked
-- Injections of the last days that gave notes to a session, oldest first. The index holds those with notes alone.
select i.id, i.at, i.session, i.query, i.note_ids
from injections i
where i.note_ids <> '{}' and i.session is not null and i.at between %(since)s and %(until)s
  and i.project is distinct from 'argus-canary'
  and not exists (select from injection_checks c where c.injection_id = i.id)
order by i.id
limit %(limit)s

-- name: turns_after
select t.raw_id, t.role, t.said_at, left(r.body, %(chars)s) as body
from turns t join raw_items r on r.id = t.raw_id
where t.session = %(session)s and t.said_at >= %(at)s
order by t.said_at, t.position, t.raw_id
limit %(limit)s

-- name: note_texts
select id, content from distilled_notes where id = any(%(ids)s) and redacted_at is null

-- name: insert_check
insert into injection_checks (injection_id, at, outcome, answer_ids)
values (%(injection_id)s, %(now)s, %(outcome)s, %(answer_ids)s)
on conflict (injection_id) do nothing
returning injection_id

-- name: insert_use
insert into injection_uses (injection_id, note_id, used, score, turn_raw_id, at)
values (%(injection_id)s, %(note_id)s, %(used)s, %(score)s, %(turn_raw_id)s, %(now)s)
on conflict do nothing

-- name: uses_by_week
-- Shares over time, newest week first.
select date_trunc('week', u.at at time zone 'UTC')::date as week, count(*)::int as judged,
       count(*) filter (where u.used)::int as used
from injection_uses u
where u.at > %(since)s and (%(project)s::text is null
      or exists (select from distilled_notes n where n.id = u.note_id and n.project = %(project)s))
group by 1 order by 1 desc
