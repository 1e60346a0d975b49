-- The ledger of recalls as a person reads it.

-- name: newest
-- Newest first, with what became of each note that was shown; `content` only of notes that are still live.
select i.id, i.at, i.session, i.project, i.query, i.prompt_mode, i.skipped, cardinality(i.turn_ids)::int as turns,
       c.outcome, c.at as checked_at,
       coalesce((
           select jsonb_agg(jsonb_build_object(
               'id', shown.id, 'used', u.used, 'score', round(u.score::numeric, 3),
               'content', (select n.content from distilled_notes n where n.id = shown.id and {live_note})) order by shown.place)
           from unnest(i.note_ids) with ordinality as shown (id, place)
           left join injection_uses u on u.injection_id = i.id and u.note_id = shown.id
       ), '[]') as notes
from injections i
left join injection_checks c on c.injection_id = i.id
where i.project is distinct from 'argus-canary'
  and (%(before)s::bigint is null or i.id < %(before)s)
  and (%(session)s::text is null or i.session = %(session)s)
  and (%(project)s::text is null or i.project = %(project)s)
  and (%(note)s::bigint is null or i.note_ids @> array[%(note)s::bigint])
order by i.id desc
limit %(limit)s
