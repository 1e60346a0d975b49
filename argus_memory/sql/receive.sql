-- name: raw_item
select id, body, project, said_at from raw_items where id = %(id)s

-- name: close_item
-- What was written needs no model: it is never claimed for distillation.
update distill_state set status = 'skipped', distilled_at = %(now)s, last_error = 'written by remember or correct'
where unit_kind = 'item' and unit_id = %(raw_id)s

-- name: find_write
select outcome, note_id, decision_id, proposal_id, disputes, detail,
       (select uid from distilled_notes n where n.id = w.note_id) as uid
from note_writes w where raw_id = %(raw_id)s

-- name: insert_write
insert into note_writes (at, verb, raw_id, outcome, note_id, decision_id, proposal_id, disputes, actor, actor_kind, detail)
values (%(now)s, %(verb)s, %(raw_id)s, %(outcome)s, %(note_id)s, %(decision_id)s, %(proposal_id)s, %(disputes)s,
        %(actor)s, %(kind)s, %(detail)s)

-- name: told_before
select exists (select from note_writes where note_id = %(note_id)s and actor = %(actor)s) as told

-- name: said_by_person
-- A person's turn that holds these words: first in this session, then the newest of the last day.
select r.id, r.body, r.said_at from raw_items r join turns t on t.raw_id = r.id
where t.role = 'user' and position(%(content)s in r.body) > 0
  and (t.session = %(session)s or r.captured_at > %(now)s - interval '1 day')
order by t.session is not distinct from %(session)s desc, r.id desc limit 1

-- name: neighbours
-- Notes that share words with a text, most of them first; the same text under any category first of all.
select n.id, n.uid, n.content, n.category, n.project, n.role, n.confidence, n.said_at, n.pinned_at
from distilled_notes n
where {live_note} and n.id <> %(except)s
  and (n.project is not distinct from %(project)s or n.project = 'global')
  and (n.text_key = %(text_key)s or n.tsv @@ (
      select string_agg(quote_literal(l), ' | ')::tsquery
      from unnest(tsvector_to_array(argus_tsvector(%(content)s))) as l))
order by n.text_key = %(text_key)s desc, cardinality(array(
    select unnest(tsvector_to_array(n.tsv)) intersect select unnest(tsvector_to_array(argus_tsvector(%(content)s))))) desc,
    n.id desc
limit 20

-- name: insert_note
insert into distilled_notes (
    uid, text_key, raw_id, title, content, category, importance, confidence, project, keywords, tags, context,
    source_ref, source_start, source_end, role, said_at, valid_from, model, created_at, pinned_at, excluded_at,
    confirmed_at
)
values (
    %(uid)s, %(text_key)s, %(raw_id)s, %(title)s, %(content)s, %(category)s, %(importance)s, %(confidence)s,
    %(project)s, %(keywords)s, %(tags)s, '', %(source_ref)s, %(source_start)s, %(source_end)s, %(role)s, %(said_at)s,
    %(said_at)s, %(model)s, %(now)s, %(pinned_at)s, %(excluded_at)s, %(confirmed_at)s
)
returning id

-- name: reinforce
update distilled_notes set confidence = greatest(confidence, %(confidence)s),
    confirmed_at = case when %(is_person)s then %(now)s else confirmed_at end
where id = %(id)s

-- name: note_more
select title, importance, keywords, tags from distilled_notes where id = %(id)s

-- name: replace_note
update distilled_notes
set deleted_at = %(now)s, deleted_reason = 'corrected', superseded_by = %(new_id)s, deduped_at = %(now)s,
    valid_to = least(coalesce(valid_to, %(now)s), greatest(%(now)s, valid_from))
where id = %(id)s

-- name: insert_proposal
insert into note_proposals (at, raw_id, content, category, project, actor, disputes, reason)
values (%(now)s, %(raw_id)s, %(content)s, %(category)s, %(project)s, %(actor)s, %(disputes)s, %(reason)s)
returning id

-- name: same_proposal
select id, status, disputes, decided_at from note_proposals
where content = %(content)s and project is not distinct from %(project)s and status in ('pending', 'rejected')
order by status = 'pending' desc, id desc limit 1

-- name: list_proposals
select p.id, p.at, p.content, p.category, p.project, p.actor, p.disputes, p.reason,
       n.content as disputed, n.deleted_reason as disputed_gone
from note_proposals p left join distilled_notes n on n.id = p.disputes
where p.status = 'pending' order by p.id desc limit %(limit)s

-- name: lock_proposal
select p.*, r.said_at from note_proposals p join raw_items r on r.id = p.raw_id where p.id = %(id)s for update of p

-- name: decide_proposal
update note_proposals set status = %(status)s, note_id = %(note_id)s, decided_by = %(actor)s, decided_at = %(now)s,
    reason = coalesce(%(reason)s, reason)
where id = %(id)s

-- name: note_auto
update note_proposals set auto_at = %(now)s, made_note = %(made_note)s where id = %(id)s

-- name: reopen_proposal
update note_proposals
set status = 'pending', note_id = null, made_note = false, decided_by = null, decided_at = null
where id = %(id)s

-- name: take_back_note
update distilled_notes set deleted_at = %(now)s, deleted_reason = 'undone' where id = %(id)s and deleted_at is null

-- name: overtaken_by
-- What was built on a note since the switch accepted it: a person's decision, a merge that it stands for.
select (select d.decision from note_decisions d
        where d.note_id = %(id)s and d.at >= %(auto_at)s and d.status = 'in-force'
          and d.decision in ('pin', 'exclude', 'restore', 'approve', 'confirm')
        order by d.id desc limit 1) as decision,
       (select max(l.id) from dedup_log l
        where l.status in ('applied', 'approved') and l.verdict <> 'distinct'
          and %(id)s = case l.verdict when 'duplicate' then l.other_id else l.note_id end
          and exists (select from distilled_notes g
                      where g.superseded_by = %(id)s and g.deleted_at is not null
                        and g.id = case l.verdict when 'duplicate' then l.note_id else l.other_id end)) as merge

-- name: correction_item
select raw_id from note_writes where decision_id = %(decision_id)s and verb = 'correct'

-- name: enforce_correction
update note_decisions
set status = 'in-force', new_note_id = %(new_note_id)s, decided_by = %(actor)s, decided_at = %(now)s
where id = %(id)s
