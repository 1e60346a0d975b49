-- /ui/timeline: what happened to notes, newest first. Being shown is no event of the timeline. {of_project} keeps to one
-- project's index.

-- name: events
select e.id, {key} as sort_key from note_events e
where e.event <> 'shown' and {of_project} and e.at >= %(since)s and e.at < %(until)s
  and (%(event)s::text is null or e.event = %(event)s)
  and (%(actor)s::text is null or e.actor = %(actor)s)
  and {after}
order by {order} limit %(limit)s

-- name: count_events
select count(*)::int as total from note_events e
where e.event <> 'shown' and {of_project} and e.at >= %(since)s and e.at < %(until)s
  and (%(event)s::text is null or e.event = %(event)s)
  and (%(actor)s::text is null or e.actor = %(actor)s)

-- name: events_by_day
-- By kind, of the days that the plot shows.
select (e.at at time zone %(zone)s)::date as day, e.event, count(*)::int as number from note_events e
where e.event <> 'shown' and {of_project} and e.at >= %(since)s and e.at < %(until)s
  and (%(event)s::text is null or e.event = %(event)s)
  and (%(actor)s::text is null or e.actor = %(actor)s)
group by 1, 2 order by 1, 2

-- name: project_names
select p.name from projects p where p.merged_into is null and p.name <> 'argus-canary' order by p.name limit 500
