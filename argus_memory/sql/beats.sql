-- name: beat
-- A beat after a silence notes the silence; `since` starts anew then, with another process, and where the clock was
-- set back: nobody has beaten by the new one yet.
with before as (
    select at, since, host, pid from watcher_beats where watcher = %(watcher)s for update
), gap as (
    insert into watcher_gaps (watcher, from_at, until_at)
    select %(watcher)s, at, %(now)s from before where at < %(now)s - %(silence)s
    returning from_at
), kept as (
    insert into watcher_beats (watcher, at, since, host, pid, pass_ms, detail)
    select %(watcher)s, %(now)s,
           coalesce((select since from before
                     where host = %(host)s and pid = %(pid)s and at <= %(now)s + %(silence)s
                       and not exists (select from gap)), %(now)s),
           %(host)s, %(pid)s, %(pass_ms)s, %(detail)s
    on conflict (watcher) do update
    set at = excluded.at, since = excluded.since, host = excluded.host, pid = excluded.pid,
        pass_ms = excluded.pass_ms, detail = excluded.detail
    returning at
)
select (select from_at from gap) as gap_from from kept

-- name: find_beats
select watcher, at, since, host, pid, pass_ms, detail from watcher_beats order by watcher

-- name: gaps_since
-- Silences that ended after %(since)s, oldest first.
select watcher, from_at, until_at from watcher_gaps where until_at > %(since)s order by until_at, id
