-- name: claim_pass
-- One pass at a time; a second one goes home.
select pg_try_advisory_xact_lock(hashtext('argus task items')) as claimed

-- name: read_to
select source, read_to from task_item_reads

-- name: set_read_to
insert into task_item_reads (source, read_to, at) values (%(source)s, %(read_to)s, %(now)s)
on conflict (source) do update set read_to = greatest(task_item_reads.read_to, excluded.read_to), at = excluded.at

-- name: new_notes
select n.id, n.content as text, n.source_ref, n.role, n.project, n.raw_id, n.said_at, n.model,
       coalesce(r.session, 'raw ' || n.raw_id) as source
from distilled_notes n left join raw_items r on r.id = n.raw_id
where n.id > %(read_to)s and {live_note} and n.project is distinct from 'argus-canary'
order by n.id limit %(limit)s

-- name: new_syntheses
select r.id, r.body as text, r.project, r.said_at, 'raw ' || r.id as source
from raw_items r
where r.id > %(read_to)s and r.kind = 'synthesis' and r.project is distinct from 'argus-canary'
order by r.id limit %(limit)s

-- name: new_turns
select t.raw_id as id, r.body as text, t.role, t.project, t.said_at,
       coalesce(t.session, 'raw ' || t.raw_id) as source
from turns t join raw_items r on r.id = t.raw_id
where t.raw_id > %(read_to)s and t.project is distinct from 'argus-canary'
order by t.raw_id limit %(limit)s

-- name: new_runs
-- Ended ones only; an open run before them is waited for, so that none is passed over.
select t.id, t.task, t.outcome, t.finished_at as said_at, 'run ' || t.id as source,
       concat_ws(E'\n', t.task, t.output ->> 'summary', t.stdout_tail) as text
from task_runs t
where t.id > %(read_to)s and t.finished_at is not null
  and t.id < coalesce((select min(o.id) from task_runs o where o.finished_at is null and o.id > %(read_to)s),
                      9223372036854775807)
order by t.id limit %(limit)s

-- name: unsettled_items
select i.id, i.text, i.project, i.status, i.said_at, i.due_on,
       coalesce((select max(e.at) from task_events e where e.item_id = i.id), i.said_at) as last_sign_at,
       array(select e.source from task_events e
             where e.item_id = i.id and e.to_status = 'claimed-done' and e.source is not null) as claimed_by
from task_items i
where i.status in ('open', 'claimed-done', 'stale')
order by i.id

-- name: later_turns
-- What was said in the item's project after it, and holds one of its words: signs that were read before the item.
select t.raw_id as id, r.body as text, t.project, t.said_at, coalesce(t.session, 'raw ' || t.raw_id) as source
from turns t join raw_items r on r.id = t.raw_id
where t.said_at > %(said_at)s and t.raw_id <= %(read_to)s and t.project is not distinct from %(project)s
  and t.tsv @@ replace(plainto_tsquery(
      (select value::regconfig from store_settings where key = 'text_search'), %(text)s)::text, '&', '|')::tsquery
order by t.said_at, t.raw_id limit %(limit)s

-- name: insert_item
insert into task_items (uid, text, project, due_on, note_id, raw_id, source_ref, said_at, noticed_at, status_at, model)
values (%(uid)s, %(text)s, %(project)s, %(due_on)s, %(note_id)s, %(raw_id)s, %(source_ref)s, %(said_at)s, %(now)s,
        %(said_at)s, %(model)s)
on conflict (uid) do nothing
returning id

-- name: move_item
-- Only from the status the decision was made on: what a person did meanwhile stands.
update task_items set status = %(to)s, status_at = %(at)s where id = %(id)s and status = %(from)s
returning id

-- name: insert_event
insert into task_events (item_id, at, from_status, to_status, evidence, evidence_id, source, quote, method, score)
values (%(id)s, %(at)s, %(from)s, %(to)s, %(evidence)s, %(evidence_id)s, %(source)s, %(quote)s, %(method)s, %(score)s)

-- name: list_items
select i.id, i.text, i.project, i.status, i.due_on, i.said_at, i.status_at, i.source_ref, i.raw_id, i.note_id,
       count(*) over ()::int as total
from task_items i
where i.status = any(%(statuses)s) and (%(project)s::text is null or i.project = %(project)s)
order by i.due_on nulls last, i.said_at desc, i.id limit %(limit)s

-- name: get_item
select id, text, project, status, due_on, said_at, status_at, source_ref, raw_id, note_id from task_items where id = %(id)s

-- name: list_events
select at, from_status, to_status, evidence, evidence_id, quote, method, score
from task_events where item_id = %(id)s order by id

-- name: count_items
select status, count(*)::int as n from task_items group by status
