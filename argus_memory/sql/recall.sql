-- name: insert_injection
insert into injections (at, session, query, cwd, project, prompt_mode, note_ids, note_scores, rrf_scores, turn_ids,
                        turn_scores, dropped, skipped, degraded, floor, characters, milliseconds, host)
values (%(now)s, %(session)s, %(query)s, %(cwd)s, %(project)s, %(prompt_mode)s, %(note_ids)s::bigint[], %(note_scores)s::real[],
        %(rrf_scores)s::real[], %(turn_ids)s::bigint[], %(turn_scores)s::real[], %(dropped)s, %(skipped)s,
        %(degraded)s, %(floor)s, %(characters)s, %(milliseconds)s, %(host)s)
returning id;

-- name: answer_at_once
-- A recall waits for no disk: a power loss within the next half second may cost its row, and nothing else.
select set_config('synchronous_commit', 'off', true);

-- name: count_shown
-- Rows that another transaction holds are passed over: a person's prompt never waits for a count.
update distilled_notes set shown_count = shown_count + 1, last_shown_at = %(now)s
where id in (select id from distilled_notes where id = any(%(ids)s) for update skip locked);

-- name: seen_in_session
-- What the session has in its context: everything injected since its last compaction.
select array(
           select distinct unnest(i.note_ids) from injections i where i.session = %(session)s and i.at > coalesce((
           select max(m.at) from session_marks m where m.session = %(session)s and m.mark in ('compact', 'clear')
       ), '-infinity')) as note_ids,
       array(
           select distinct unnest(i.turn_ids) from injections i where i.session = %(session)s and i.at > coalesce((
           select max(m.at) from session_marks m where m.session = %(session)s and m.mark in ('compact', 'clear')
       ), '-infinity')) as turn_ids;

-- name: notes_by_id
select n.id, n.uid, n.title, n.content, n.category, n.importance, n.confidence, n.project, n.keywords, n.tags,
       n.context, n.links, n.source_ref, n.raw_id, n.episode_id, n.valid_from, n.valid_to, n.model, n.model_real,
       n.said_at, r.source, r.session,
       -- Since when it stands in the place of another one, also of one that still waits for a person's word.
       greatest(
           (select max(case o.deleted_reason when 'corrected' then o.deleted_at else n.valid_from end)
            from distilled_notes o where o.superseded_by = n.id and o.deleted_reason in ('superseded', 'corrected')),
           (select n.valid_from from dedup_log l
            where l.note_id = n.id and l.status = 'pending' and l.verdict = 'supersede' limit 1)
       )::date as changed_on,
       coalesce((select array_agg(f.path order by f.path) from note_files f
                 where f.note_id = n.id and f.said in ('changed', 'gone')), '{}') as changed_files
from distilled_notes n join raw_items r on r.id = n.raw_id
where n.id = any(%(ids)s);

-- name: context_notes
-- What could stand at the start of a session, of the project (place 0) and of `global` (1): pinned notes, standing
-- preferences and context, and the most important others. Which of them do is decided by rules/context_choice.py.
with scopes (name, place) as (
    values (%(project)s::text, 0), ('global', 1)
),
found as (
    select n.id, s.place from scopes s cross join lateral (
        (select n.id from distilled_notes n
         where n.project = s.name and n.pinned_at is not null and {live_note} and {ordinary}
         order by n.importance desc, n.valid_from desc, n.id desc limit %(limit)s)
        union
        (select n.id from distilled_notes n
         where n.project = s.name and n.category in ('preference', 'context') and {live_note} and {ordinary}
         order by n.importance desc, n.valid_from desc, n.id desc limit %(limit)s)
        union
        (select n.id from distilled_notes n
         where n.project = s.name and {live_note} and {ordinary}
         order by n.importance desc, n.valid_from desc, n.id desc limit 3 * %(limit)s)
    ) n
    where s.place = 0 or s.name is distinct from %(project)s::text
)
select f.place, n.id, n.category, n.importance, n.pinned_at is not null as pinned, u.uses,
       greatest(n.said_at, n.confirmed_at, u.last_used_at) as last_sign
from found f
join distilled_notes n on n.id = f.id
cross join lateral (
    select count(*)::int as uses, max(u.at) as last_used_at from injection_uses u where u.note_id = n.id and u.used
) u;

-- name: latest_session
select t.session from turns t
where t.project = %(project)s and (%(session)s::text is null or t.session <> %(session)s)
  and not exists (select from withheld_turns w where w.raw_id = t.raw_id)
order by t.said_at desc, t.position desc, t.raw_id desc limit 1;

-- name: last_turns
-- Newest first.
select t.raw_id, t.role, t.speaker, t.session, t.project, t.said_at, left(r.body, %(chars)s) as body
from turns t join raw_items r on r.id = t.raw_id
where t.session = %(session)s and t.project = %(project)s
  and not exists (select from withheld_turns w where w.raw_id = t.raw_id)
order by t.said_at desc, t.position desc, t.raw_id desc limit %(limit)s;
