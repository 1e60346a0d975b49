"""Receipts of writes; and the one sanctioned change to what was captured: words are taken out of it and of all that
was made of it.

    argus_redact ── the raw item's body, or a span of it
                 ├─ the same words in any other raw item
                 ├─ what was made of those items: notes, terms, vectors, rejections, failures, to-dos, decisions
                 ├─ the same words in every other text column of the schemas public and dagster
                 └─ redactions, note_decisions, note_events (by trigger); redaction_sweeps: tables to be rewritten
"""

from alembic import op

revision = "0020_receiving"
down_revision = "0019_regenerate"

DOOR = r"""
-- The refusal of 0001 with its one door: a statement that argus_redact itself runs. The setting alone opens nothing.
create or replace function argus_refuse_change() returns trigger language plpgsql as $$
declare
    callers text;
begin
    if tg_op in ('UPDATE', 'DELETE') and current_setting('argus.redacting', true) = 'on' then
        get diagnostics callers = pg_context;
        if callers ~ 'PL/pgSQL function argus_redact\(' then
            return null;
        end if;
    end if;
    raise exception '% on % is refused: %', tg_op, tg_table_name, tg_argv[0]
        using errcode = 'AR001';
end $$;
"""

TABLES = r"""
create table note_writes (
    id bigint generated always as identity primary key,
    at timestamptz not null,
    verb text not null constraint note_writes_verb check (verb in ('remember', 'correct')),
    raw_id bigint constraint note_writes_once unique references raw_items,
    outcome text not null constraint note_writes_outcome check (
        outcome in ('created', 'reinforced', 'queued', 'no-op', 'refused', 'changed', 'held')),
    note_id bigint references distilled_notes,
    decision_id bigint references note_decisions,
    proposal_id bigint references note_proposals,
    disputes bigint[] not null default '{}',
    actor text not null,
    actor_kind text not null constraint note_writes_actor_kind check (actor_kind in ('person', 'agent')),
    detail text
);
comment on table note_writes is 'the receipt of every remember and correct; an item with one is never distilled; raw_id is null where nothing was stored';
create index note_writes_note on note_writes (note_id);

alter table redactions
    add column actor text,
    add column reason text,
    add column length_class text,
    add column hash text;
comment on table redactions is 'what was taken out, by kind and never by value; raw_id is null for an item that was only a secret; kind request: by argus_redact';
comment on column redactions.hash is 'sha256 of the body as it was before';

-- Tables whose dead rows still hold redacted words, until each was rewritten.
create table redaction_sweeps (
    id bigint generated always as identity primary key,
    relation text not null,
    xid xid8 not null,
    asked_at timestamptz not null,
    swept_at timestamptz
);
comment on column redaction_sweeps.xid is 'the redaction''s transaction: what still sees the time before it holds the sweep up';
create index redaction_sweeps_open on redaction_sweeps (relation) where swept_at is null;
"""

WORDS = r"""
-- A pattern that finds a text however it is set: any white space, also as JSON or JSON within JSON writes it.
create function argus_words_pattern(words text) returns text language sql immutable as $$
    select case when length(plain) < 6 and plain ~ '^\w' then '(?<!\w)' else '' end
        || (select string_agg(case
                when c = ' ' then '(?:\s|\\+[nrtf])+'
                when c = '"' then '\\*"'
                when c = '\' then '\\+'
                when c ~ '^[a-zA-Z0-9_]$' then c
                when ascii(c) < 128 then '\' || c
                when ascii(c) <= 65535 then '(?:' || c || '|\\+u' || lpad(to_hex(ascii(c)), 4, '0') || ')'
                else '(?:' || c || '|\\+u' || to_hex(55296 + ((ascii(c) - 65536) >> 10))
                    || '\\+u' || to_hex(56320 + ((ascii(c) - 65536) & 1023)) || ')' end, '' order by place)
            from regexp_split_to_table(plain, '') with ordinality as s (c, place))
        || case when length(plain) < 6 and plain ~ '\w$' then '(?!\w)' else '' end
    -- Without the quotes and stops around it, which JSON may need.
    from (select regexp_replace(regexp_replace(words, '^[^a-zA-Z0-9\u0080-\U0010ffff]+|[^a-zA-Z0-9\u0080-\U0010ffff]+$', '', 'g'), '\s+', ' ', 'g')
          as plain) as p
    where plain <> ''
$$;

create function argus_is_json(value text) returns boolean language plpgsql immutable as $$
begin
    perform value::jsonb;
    return true;
exception when others then
    return false;
end $$;

create function argus_cut_json(value jsonb, pattern text, mark text) returns jsonb language sql immutable as $$
    select case jsonb_typeof(value)
        when 'object' then (
            select coalesce(jsonb_object_agg(regexp_replace(k, pattern, mark, 'gi'), argus_cut_json(v, pattern, mark)), '{}')
            from jsonb_each(value) as o (k, v))
        when 'array' then (
            select coalesce(jsonb_agg(argus_cut_json(v, pattern, mark) order by place), '[]')
            from jsonb_array_elements(value) with ordinality as a (v, place))
        when 'string' then to_jsonb(regexp_replace(value #>> '{}', pattern, mark, 'gi'))
        when 'number' then
            case when value::text ~* pattern then to_jsonb(regexp_replace(value::text, pattern, mark, 'gi')) else value end
        else value
    end
$$;

-- What was JSON stays JSON, as Dagster's own columns hold it.
create function argus_cut(value text, pattern text, mark text) returns text language plpgsql immutable as $$
declare
    cut text := regexp_replace(value, pattern, mark, 'gi');
begin
    if cut is distinct from value and value ~ '^\s*[\[{]' and argus_is_json(value) and not argus_is_json(cut) then
        return argus_cut_json(value::jsonb, pattern, mark)::text;
    end if;
    return cut;
end $$;

create function argus_cut(value text, patterns text[], mark text) returns text language plpgsql immutable as $$
declare
    pattern text;
begin
    foreach pattern in array patterns loop
        value := argus_cut(value, pattern, mark);
    end loop;
    return value;
end $$;

create function argus_says(value text, patterns text[]) returns boolean language sql immutable as $$
    select exists (select from unnest(patterns) as p where value ~* p)
$$;

-- Those that share no word (as search knows words) with what was cut out.
create function argus_without(value text[], words text[]) returns text[] language sql stable as $$
    select coalesce(array_agg(v order by place) filter (
        where not words && tsvector_to_array(argus_tsvector(v))), '{}')
    from unnest(value) with ordinality as u (v, place)
$$;

create function argus_cut_all(value text[], pattern text, mark text) returns text[] language sql immutable as $$
    select coalesce(array_agg(argus_cut(v, pattern, mark) order by place), '{}')
    from unnest(value) with ordinality as u (v, place)
$$;

-- Where a text holds the pattern, as [start, end) characters from 0.
create function argus_places(value text, patterns text[]) returns int4multirange language plpgsql immutable as $$
declare
    pattern text;
    found text;
    start int;
    places int4multirange := '{}';
begin
    foreach pattern in array patterns loop
        start := 0;
        loop
            found := substring(substr(value, start + 1) from '(?i)' || pattern);
            exit when found is null or found = '';
            start := start + position(found in substr(value, start + 1)) - 1;
            places := places + int4multirange(int4range(start, start + length(found)));
            start := start + length(found);
        end loop;
    end loop;
    return places;
end $$;

create function argus_cut_places(value text, places int4multirange, mark text) returns text language sql immutable as $$
    select coalesce(string_agg(
        substr(value, before + 1, lower(p) - before) || mark, '' order by lower(p)), '')
        || substr(value, coalesce(max(upper(p)), 0) + 1)
    from (select p, coalesce(lag(upper(p)) over (order by lower(p)), 0) as before from unnest(places) as p) as cuts
$$;

-- Where a character went: one that was cut out stands at its mark's beginning or end.
create function argus_moved(at int, places int4multirange, mark int, is_end boolean) returns int
language sql immutable as $$
    select at + coalesce(sum(case
        when upper(p) <= at then mark - (upper(p) - lower(p))
        when lower(p) < at and is_end then mark - (at - lower(p))
        when lower(p) < at then -(at - lower(p))
        else 0 end), 0)::int
    from unnest(places) as p
$$;

create function argus_length_class(characters int) returns text language sql immutable as $$
    select case when characters < 16 then '1-15' when characters < 64 then '16-63' when characters < 256 then '64-255'
        when characters < 1024 then '256-1023' when characters < 4096 then '1024-4095' else '4096 and more' end
$$;

-- Of a body that goes whole: the body if it is short, and its lines and sentences that are long enough to be its own.
-- What stands in more than five other turns is everybody's talk.
create function argus_redaction_pieces(body text) returns setof text language sql stable as $$
    with pieces as (
        select distinct regexp_replace(btrim(piece), '\s+', ' ', 'g') as piece
        from regexp_split_to_table(body, E'[\n\r]+|(?<=[.!?。！？])\\s+') as piece
    ), long as (
        select piece from pieces where length(piece) between 24 and 2000
        union
        select regexp_replace(btrim(body), '\s+', ' ', 'g') where length(btrim(body)) between 12 and 2000
    )
    select piece from long l
    where (select count(*) from (
               select from turns t join raw_items r on r.id = t.raw_id
               where t.tsv @@ plainto_tsquery(argus_text_config(), argus_segment(l.piece))
                 and r.body ~* argus_words_pattern(l.piece)
               limit 7) as said) < 7
    order by length(piece) desc
$$;
"""

MADE = r"""
-- Another moment each time: by its change history tells a redaction from a rewording, which would keep the words.
create function argus_redacted_at(before timestamptz, moment timestamptz) returns timestamptz language sql immutable as $$
    select greatest(moment, before + interval '1 microsecond')
$$;

create function argus_units_of(raw bigint) returns table (kind text, id bigint) language sql stable as $$
    select 'item', raw union all select 'episode', t.episode_id from turns t where t.raw_id = raw and t.episode_id is not null
$$;

-- Everything made of one raw item that says what was cut out of it. Called by argus_redact alone.
create function argus_redact_made(raw bigint, places int4multirange, whole boolean, patterns text[], words text[],
                                  mark text, moment timestamptz) returns bigint[] language plpgsql as $$
declare
    item raw_items;
    n distilled_notes;
    place int4range;
    starts int;
    ends int;
    touched bigint[] := '{}';
    said text;
begin
    select * into item from raw_items where id = raw;  -- as it reads now
    update turns t
    set tsv = argus_tsvector(item.body), tsv_length = length(argus_tsvector(item.body)), chars = length(item.body),
        speaker = argus_speaker(item.metadata, item.body),
        asks = right(rtrim(item.body, E' \n\t'), 1) in ('?', '？', '؟')
    where t.raw_id = raw;
    delete from turn_vectors where raw_id = raw;
    insert into embed_queue (space_id, target, target_id)
    select s.id, 'turn', raw from embedding_spaces s
    where s.status <> 'retired' and item.kind = 'turn' and item.project is distinct from 'argus-canary'
    on conflict (space_id, target, target_id) do update set attempts = 0, last_error = null;
    delete from document_fingerprints where raw_id = raw;

    for n in select * from distilled_notes where raw_id = raw order by id for update loop
        said := concat_ws(' ', n.title, n.content, n.context, array_to_string(n.keywords, ' '), array_to_string(n.tags, ' '));
        if whole or n.source_start is null or n.source_end is null then
            place := null;
        else
            place := int4range(n.source_start, n.source_end);
        end if;
        if place is not null and not places && int4multirange(place) then
            -- Its words stand; only their place moved, and with it nothing that history has to tell.
            update distilled_notes set source_start = argus_moved(n.source_start, places, length(mark), false),
                source_end = argus_moved(n.source_end, places, length(mark), true)
            where id = n.id;
        elsif place is not null and argus_says(said, patterns) and not places @> int4multirange(place)
              and not words && tsvector_to_array(argus_tsvector(
                  argus_cut(concat_ws(' ', n.title, n.content, n.context), patterns, mark))) then
            -- It said the words as they were said and none of them besides: the rest of it may stay.
            starts := argus_moved(n.source_start, places, length(mark), false);
            ends := argus_moved(n.source_end, places, length(mark), true);
            update distilled_notes
            set title = left(argus_cut(title, patterns, mark), 80), content = argus_cut(content, patterns, mark),
                context = argus_cut(context, patterns, mark), keywords = argus_without(keywords, words),
                tags = argus_without(tags, words), source_ref = substr(item.body, starts + 1, ends - starts),
                source_start = starts, source_end = ends, redacted_at = argus_redacted_at(redacted_at, moment)
            where id = n.id;
            touched := touched || n.id;
        else
            -- It may say them in other words.
            update distilled_notes
            set title = left(mark, 80), content = mark, context = '', keywords = '{}', tags = '{}', source_ref = mark,
                source_start = null, source_end = null, redacted_at = argus_redacted_at(redacted_at, moment),
                deleted_at = coalesce(deleted_at, moment), deleted_reason = 'redacted', deduped_at = moment
            where id = n.id;
            touched := touched || n.id;
        end if;
    end loop;

    update gate_rejections g set title = mark, content = mark, source_ref = mark, detail = null
    where g.raw_id = raw or (g.raw_id is null and (
        (g.unit_kind = 'item' and g.unit_id = raw)
        or (g.unit_kind = 'episode' and g.unit_id in (select episode_id from turns where raw_id = raw))));
    update task_items t set text = mark, source_ref = mark
    where t.raw_id = raw and (whole or argus_says(t.text || ' ' || t.source_ref, patterns));
    update task_events e set quote = mark
    where whole and e.evidence in ('turn', 'document') and e.evidence_id = raw::text;
    update note_proposals p
    set content = mark, reason = null, status = case when status = 'pending' then 'rejected' else status end,
        decided_by = coalesce(decided_by, argus_actor()), decided_at = coalesce(decided_at, moment)
    where p.raw_id = raw and (whole or argus_says(p.content, patterns));
    update distill_failures f set detail = mark
    where (f.unit_kind, f.unit_id) in (select * from argus_units_of(raw));
    update distill_state s set last_error = null
    where s.last_error is not null and (s.unit_kind, s.unit_id) in (select * from argus_units_of(raw));
    update llm_calls c set detail = null
    where c.detail is not null and (c.unit_kind, c.unit_id) in (select * from argus_units_of(raw));
    update regeneration_notes g
    set old_text = case when old_text is not null then mark end, new_text = case when new_text is not null then mark end,
        candidate = null, detail = null
    where g.old_note_id = any (touched)
       or (g.candidate ->> 'raw_id' = raw::text and (whole or argus_says(g.candidate::text, patterns)))
       or (whole and g.old_note_id is null and (g.unit_kind, g.unit_id) in (select * from argus_units_of(raw)));
    return touched;
end $$;

-- What else holds a touched note's words: vectors, verdicts, decisions, history. Called by argus_redact alone.
create function argus_redact_notes(touched bigint[], mark text, moment timestamptz, who text, why text) returns void
language plpgsql as $$
begin
    delete from note_vectors where note_id = any (touched);
    delete from embed_queue where target = 'note' and target_id = any (touched);
    insert into embed_queue (space_id, target, target_id)
    select s.id, 'note', n.id from embedding_spaces s, distilled_notes n
    where s.status <> 'retired' and n.id = any (touched) and n.deleted_at is null
    on conflict do nothing;
    update dedup_log l set reasoning = mark where l.note_id = any (touched) or l.other_id = any (touched);
    -- A merge that waits for a person is settled: there is nothing left to merge.
    update dedup_log l set status = 'rejected', decided_by = who, decided_at = moment
    where l.status = 'pending' and exists (
        select from distilled_notes n where n.id in (l.note_id, l.other_id) and n.id = any (touched)
                                        and n.deleted_at is not null);
    update note_events e set detail = e.detail - 'before' - 'after' - 'title' - 'content' - 'fields'
    where e.note_id = any (touched) and e.event in ('reworded', 'revised', 'redacted', 'corrected', 'created');
    update note_decisions d
    set content = mark, new_text = case when d.new_text is not null then mark end, reason = null,
        status = case d.status when 'held' then 'overtaken' else d.status end,
        decided_by = case d.status when 'held' then who else d.decided_by end,
        decided_at = case d.status when 'held' then moment else d.decided_at end
    where d.note_id = any (touched) or d.new_note_id = any (touched)
       or d.uid in (select n.uid from distilled_notes n where n.id = any (touched));
    update note_decisions d set status = 'overtaken', decided_by = who, decided_at = moment
    where d.status = 'in-force' and d.decision in ('redact', 'restore', 'pin', 'confirm')
      and d.uid in (select n.uid from distilled_notes n where n.id = any (touched));
    insert into note_decisions (at, decision, uid, text_key, content, category, project, note_id, raw_id, actor,
                                actor_kind, reason)
    select moment, 'redact', n.uid, n.text_key, mark, n.category, n.project, n.id, n.raw_id, who, 'person', why
    from distilled_notes n where n.id = any (touched) order by n.id;
end $$;
"""

ELSEWHERE = r"""
-- Text columns of both schemas, and whether words can be cut out of them: an identifier, a key or a word out of a
-- list cannot lose its letters.
create function argus_text_columns() returns table (relation regclass, name name, type text, fixed boolean)
language sql stable as $$
    select c.oid::regclass, a.attname, t.typname::text,
        (s.nspname = 'public' and a.attname in (
            'project', 'session', 'source', 'kind', 'model', 'model_real', 'role', 'stage', 'uid', 'text_key', 'message_id',
            'task', 'handler', 'engine', 'host', 'unit_kind', 'event', 'change', 'claimed_by', 'run_id', 'hash', 'sha256',
            'checksum', 'revision'))
        or (s.nspname = 'dagster' and a.attname in ('run_id', 'step_key', 'asset_key', 'dagster_event_type', 'status'))
        or not has_table_privilege(c.oid, 'UPDATE')
        or exists (select from pg_constraint k where k.conrelid = c.oid and a.attnum = any (k.conkey)
                       and (k.contype in ('p', 'u', 'f')
                            or (k.contype = 'c' and pg_get_constraintdef(k.oid) ~ '= ANY|~')))
        or exists (select from pg_index i where i.indrelid = c.oid and i.indisunique and a.attnum = any (i.indkey))
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid
    join pg_namespace s on s.oid = c.relnamespace
    join pg_type t on t.oid = a.atttypid
    where s.nspname in ('public', 'dagster') and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
      and a.attgenerated = '' and t.typname in ('text', 'varchar', 'json', 'jsonb', '_text', '_varchar')
      and (c.relname, a.attname) not in (('raw_items', 'body'), ('redaction_sweeps', 'relation'))
      and c.relname not in ('alembic_version', 'term_frequencies', 'term_statistics')
$$;

-- Cut the pattern out of every such column. Returns "table.column" of what holds it and cannot lose it. Notes were
-- seen to before. Called by argus_redact alone.
create function argus_redact_elsewhere(pattern text, mark text) returns text[] language plpgsql as $$
declare
    t record;
    sets text;
    wheres text;
    n bigint;
    col record;
    kept text[] := '{}';
begin
    for t in select relation, array_agg(name order by name) filter (where not fixed) as names
             from argus_text_columns() group by relation order by relation::text loop
        if t.names is not null and t.relation <> 'distilled_notes'::regclass then
            select string_agg(format(case c.type
                       when 'jsonb' then '%1$I = argus_cut_json(%1$I, $1, $2)'
                       when 'json' then '%1$I = argus_cut_json(%1$I::jsonb, $1, $2)::json'
                       when '_text' then '%1$I = argus_cut_all(%1$I, $1, $2)'
                       when '_varchar' then '%1$I = argus_cut_all(%1$I::text[], $1, $2)::varchar[]'
                       else '%1$I = argus_cut(%1$I, $1, $2)' end, c.name), ', '),
                   string_agg(format('%I::text ~* $1', c.name), ' or ')
            into sets, wheres
            from argus_text_columns() c where c.relation = t.relation and not c.fixed;
            execute format('update %s set %s where %s', t.relation, sets, wheres) using pattern, mark;
        end if;
        for col in select c.name from argus_text_columns() c where c.relation = t.relation and c.fixed
                     and has_table_privilege(c.relation, 'SELECT') loop
            execute format('select count(*) from %s where %I::text ~* $1', t.relation, col.name) into n using pattern;
            if n > 0 then
                kept := kept || format('%s.%s', t.relation, col.name);
            end if;
        end loop;
    end loop;
    return kept;
end $$;

-- Whole cells that are a piece of a body which went whole: a question cut off at 2,000 characters, a quotation.
create function argus_redact_pieces(body text, mark text) returns void language plpgsql as $$
declare
    col record;
begin
    for col in select c.relation, c.name from argus_text_columns() c
               where not c.fixed and c.type in ('text', 'varchar') and c.relation <> 'distilled_notes'::regclass
                 and c.name not in ('cwd', 'path', 'repo') loop
        execute format('update %1$s set %2$I = $2 where length(%2$I) between 24 and length($1)'
                       ' and position(%2$I in $1) > 0 and %2$I <> $2', col.relation, col.name) using body, mark;
    end loop;
end $$;
"""

REDACT = r"""
-- Take [start, until) characters from 0 of a raw item's body out of the store, or all of it where both are null.
-- Returns {"raws": [ids], "notes": [ids], "tables": {name: rows changed}, "kept": ["table.column"], "length_class", "hash"}.
create function argus_redact(raw bigint, start int, until int, replacement text, who text, why text) returns jsonb
language plpgsql as $$
declare
    item raw_items;
    -- Without what JSON or a pattern would read as something else.
    mark text := translate(coalesce(nullif(btrim(replacement), ''), '[redacted:request]'), E'\\"&\n\r\t', '/''+   ');
    moment timestamptz := argus_clock(now());
    whole boolean := start is null and until is null;
    gone text;
    patterns text[];
    pattern text;
    told text := why;
    raws bigint[] := array[raw];
    cut bigint[] := '{}';
    other record;
    places int4multirange;
    touched bigint[] := '{}';
    kept text[] := '{}';
    words text[];
    lexemes text[] := '{}';
    tables jsonb;
begin
    select * into item from raw_items where id = raw;
    gone := case when whole then item.body else substr(item.body, start + 1, greatest(until - start, 0)) end;
    if item.id is null then
        raise exception 'there is no raw item %', raw using errcode = 'AR404';
    elsif coalesce(btrim(who), '') = '' then
        raise exception 'a redaction names who asked for it' using errcode = 'AR002';
    elsif not whole and (start is null or until is null or start < 0 or until <= start or until > length(item.body)) then
        raise exception 'characters % to % are not within the % of raw item %', start, until, length(item.body), raw
            using errcode = 'AR002';
    elsif not whole and length(regexp_replace(gone, '[^a-zA-Z0-9\u0080-\U0010ffff]', '', 'g')) < 4 then
        raise exception 'fewer than four letters or digits stand in too many places to be redacted: name more of the text'
            using errcode = 'AR002';
    end if;
    if btrim(gone) in (mark, '[redacted:request]') then
        return '{"raws": [], "notes": [], "tables": {}, "kept": [], "length_class": null, "hash": null}';
    end if;
    perform pg_advisory_xact_lock(hashtext('argus redact'));
    perform set_config('argus.redacting', 'on', true), set_config('argus.actor', who, true);

    -- Alternatives by twenty: one pattern of all would be too long for a long document.
    select coalesce(array_agg(joined order by batch), '{}') into patterns from (
        select (place - 1) / 20 as batch, string_agg(argus_words_pattern(piece), '|' order by place) as joined
        from (select piece, row_number() over (order by length(piece) desc, piece) as place
              from (select argus_redaction_pieces(gone) as piece where whole
                    union all select gone where not whole) as given
              where argus_words_pattern(piece) is not null) as numbered
        group by 1) as batches;
    told := argus_cut(told, patterns, mark);
    raws := raws || array(select r.id from raw_items r where r.id <> raw and argus_says(r.body, patterns) order by r.id);
    for other in select r.id, r.body, r.source from raw_items r where r.id = any (raws) order by r.id loop
        if other.id = raw and whole then
            places := int4multirange(int4range(0, length(other.body)));
        else
            places := argus_places(other.body, patterns) + case when other.id = raw
                then int4multirange(int4range(start, until)) else '{}'::int4multirange end;
        end if;
        continue when isempty(places) or (whole and other.body = mark);
        cut := cut || other.id;
        words := array(
            select unnest(tsvector_to_array(argus_tsvector(substr(other.body, lower(p) + 1, upper(p) - lower(p)))))
            from unnest(places) as p);
        lexemes := lexemes || words;
        update raw_items set body = argus_cut_places(body, places, mark) where id = other.id;
        touched := touched || argus_redact_made(other.id, places, whole and other.id = raw, patterns, words, mark,
                                                moment);
        insert into redactions (raw_id, source, kind, count, at, actor, reason, length_class, hash)
        values (other.id, other.source, 'request', (select count(*) from unnest(places)), moment, who, told,
                argus_length_class((select sum(upper(p) - lower(p))::int from unnest(places) as p)),
                encode(sha256(convert_to(other.body, 'UTF8')), 'hex'));
    end loop;
    -- Notes of other sources that say the words by themselves.
    with said as (
        update distilled_notes n
        set title = left(argus_cut(title, patterns, mark), 80), content = argus_cut(content, patterns, mark),
            context = argus_cut(context, patterns, mark), keywords = argus_without(keywords, lexemes),
            tags = argus_without(tags, lexemes), redacted_at = argus_redacted_at(redacted_at, moment)
        where n.id <> all (touched)
          and argus_says(concat_ws(' ', title, content, context, array_to_string(keywords || tags, ' ')), patterns)
        returning n.id)
    select touched || coalesce(array_agg(said.id order by said.id), '{}') into touched from said;
    perform argus_redact_notes(touched, mark, moment, who, told);
    foreach pattern in array patterns loop
        kept := kept || argus_redact_elsewhere(pattern, mark);
    end loop;
    if whole then
        perform argus_redact_pieces(item.body, mark);
    end if;
    delete from term_frequencies f
    where f.term = any (lexemes)
      and not exists (select from turns t where t.tsv @@ format('%L', f.term)::tsquery)
      and not exists (select from distilled_notes n where n.tsv @@ format('%L', f.term)::tsquery);
    perform set_config('argus.redacting', '', true);

    select coalesce(jsonb_object_agg(s.relid::regclass::text, s.n_tup_upd + s.n_tup_del), '{}') into tables
    from pg_stat_xact_user_tables s
    where s.n_tup_upd + s.n_tup_del > 0 and s.schemaname in ('public', 'dagster');
    insert into redaction_sweeps (relation, xid, asked_at)
    select name, pg_current_xact_id(), moment from jsonb_object_keys(tables) as name order by name;
    return jsonb_build_object(
        'raws', to_jsonb(cut), 'notes', to_jsonb(touched), 'tables', tables,
        'kept', to_jsonb(array(select distinct k from unnest(kept) as k order by k)),
        'length_class', argus_length_class(length(gone)), 'hash', encode(sha256(convert_to(item.body, 'UTF8')), 'hex'));
end $$;
"""


def upgrade() -> None:
    for part in (DOOR, TABLES, WORDS, MADE, ELSEWHERE, REDACT):
        op.execute(part)
    op.execute(
        """
        create trigger note_writes_kept before delete or truncate on note_writes
            for each statement execute function argus_refuse_change('audit rows are kept');
        create trigger redaction_sweeps_kept before delete or truncate on redaction_sweeps
            for each statement execute function argus_refuse_change('audit rows are kept');
        """
    )
