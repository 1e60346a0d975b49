"""What people decide of notes, everything that ever happens to a note, and turns that recall withholds."""

from alembic import op
from sqlalchemy import text

from argus_memory.rules.uid import text_key

revision = "0018_decisions"
down_revision = "0017_task_items"


def upgrade() -> None:
    op.execute(
        r"""
        alter table distilled_notes
            add column pinned_at timestamptz,
            add column excluded_at timestamptz,
            add column confirmed_at timestamptz,
            add column exported_at timestamptz,
            add column redacted_at timestamptz,
            -- hash of the normalised text alone, whatever category and project: what a decision also binds
            add column text_key text not null default '';
        comment on column distilled_notes.excluded_at is 'kept, but never recalled';
        create index distilled_notes_text_key on distilled_notes (text_key);
        -- What is gone is found by its words too: by a diff, never by recall.
        create index distilled_notes_tsv_gone on distilled_notes using gin (tsv) where deleted_at is not null;

        create table note_decisions (
            id bigint generated always as identity primary key,
            at timestamptz not null,
            decision text not null constraint note_decisions_decision check (
                decision in ('pin', 'unpin', 'exclude', 'include', 'forget', 'restore', 'correct', 'redact', 'approve',
                             'reject', 'confirm')),
            status text not null default 'in-force' constraint note_decisions_status check (
                status in ('in-force', 'held', 'rejected', 'undone', 'overtaken')),
            uid text not null,
            text_key text not null,
            content text not null,
            category text not null,
            project text,
            note_id bigint references distilled_notes,
            raw_id bigint references raw_items,
            source_start integer,
            source_end integer,
            new_text text,
            new_note_id bigint references distilled_notes,
            arrival text,
            actor text not null,
            actor_kind text not null constraint note_decisions_actor_kind check (actor_kind in ('person', 'agent')),
            reason text,
            decided_by text,
            decided_at timestamptz,
            words text[] not null default '{}'
        );
        create function argus_decision_words() returns trigger language plpgsql as $$
        begin
            new.words := tsvector_to_array(to_tsvector('english', new.content));
            return new;
        end $$;
        create trigger note_decisions_worded before insert or update on note_decisions
            for each row execute function argus_decision_words();
        comment on table note_decisions is 'keyed by the note''s uid and its normalised text, never by a row id alone';
        comment on column note_decisions.status is 'held: an agent''s, waiting for a person; overtaken: a later one of the same kind is in force';
        comment on column note_decisions.arrival is 'the forget --source/--session/--project/--since it came with';
        create index note_decisions_uid on note_decisions (uid, id);
        create index note_decisions_text on note_decisions (text_key, id);
        -- Whatever language a note is in: only words that the two share lead from one to the other.
        create index note_decisions_words on note_decisions using gin (array_to_tsvector(words))
            where decision in ('forget', 'reject', 'correct', 'redact', 'exclude') and status = 'in-force';
        create index note_decisions_held on note_decisions (id) where status = 'held';
        create index note_decisions_arrival on note_decisions (arrival, id) where arrival is not null;
        create trigger note_decisions_kept before delete or truncate on note_decisions
            for each statement execute function argus_refuse_change('what a person decided is kept');

        -- Facts that an agent proposes on its own wait here until a person accepts them.
        create table note_proposals (
            id bigint generated always as identity primary key,
            at timestamptz not null,
            raw_id bigint not null references raw_items,
            content text not null,
            category text not null,
            project text,
            actor text not null,
            disputes bigint references distilled_notes,
            status text not null default 'pending' constraint note_proposals_status check (
                status in ('pending', 'accepted', 'rejected', 'auto-accepted')),
            note_id bigint references distilled_notes,
            decided_by text,
            decided_at timestamptz,
            reason text
        );
        create index note_proposals_pending on note_proposals (id) where status = 'pending';
        create trigger note_proposals_kept before delete or truncate on note_proposals
            for each statement execute function argus_refuse_change('audit rows are kept');

        -- No foreign key: an event of a note that somebody holds must not wait for him. Notes are never deleted.
        create table note_events (
            id bigint generated always as identity primary key,
            note_id bigint not null,
            uid text not null,
            at timestamptz not null,
            event text not null constraint note_events_event check (
                event in ('created', 'reinforced', 'weakened', 'reworded', 'revised', 'dated', 'refined', 'superseded',
                          'merged', 'held', 'approved', 'rejected', 'auto-approved', 'undone', 'pinned', 'unpinned',
                          'excluded', 'included', 'forgotten', 'restored', 'corrected', 'redacted', 'confirmed',
                          'exported', 'shown', 'moved', 'redistilled', 'removed')),
            other_id bigint,
            actor text not null,
            detail jsonb not null default '{}',
            project text
        );
        comment on column note_events.project is 'the note''s project right after the event';
        comment on column note_events.detail is '"reason": the note went away by this; "was": it came back; "before": its text before; "valid_from"/"valid_to": {"before", "after"}';
        create index note_events_note on note_events (note_id, id);
        create index note_events_other on note_events (other_id, id) where other_id is not null;
        -- Being shown is most of what happens to a note: it is counted, and not listed.
        create index note_events_uid on note_events (uid, id) where event <> 'shown';
        create index note_events_at on note_events (at desc, id desc) where event <> 'shown';
        create index note_events_project on note_events (project, at desc, id desc) where event <> 'shown';
        create trigger note_events_kept before update or delete or truncate on note_events
            for each statement execute function argus_refuse_change('history is kept');

        -- Turns whose words support what was forgotten, excluded, corrected or superseded: no recall shows them.
        create table withheld_turns (
            raw_id bigint not null references raw_items,
            note_id bigint references distilled_notes,
            arrival text,
            reason text not null,
            at timestamptz not null,
            constraint withheld_turns_once unique nulls not distinct (raw_id, note_id, arrival),
            constraint withheld_turns_why check ((note_id is null) <> (arrival is null))
        );
        comment on column withheld_turns.arrival is 'the arrival that was forgotten as a whole, with all that was said in it';
        create index withheld_turns_note on withheld_turns (note_id);
        create index withheld_turns_arrival on withheld_turns (arrival) where arrival is not null;

        -- `argus forget --source/--session/--project/--since`: what was counted first, then undone as one.
        create table forgotten_arrivals (
            id bigint generated always as identity primary key,
            at timestamptz not null,
            source text,
            session text,
            project text,
            since timestamptz,
            raw_items integer not null,
            notes integer not null,
            actor text not null,
            reason text,
            restored_at timestamptz,
            restored_by text
        );
        comment on table forgotten_arrivals is 'note_decisions.arrival and withheld_turns.arrival name its id';
        create trigger forgotten_arrivals_kept before delete or truncate on forgotten_arrivals
            for each statement execute function argus_refuse_change('what a person decided is kept');

        -- The raw items whose words a note stands for: its own, and those of notes that were merged into it.
        create function argus_items_of(id bigint) returns setof bigint language sql stable as $$
            with recursive family as (
                select n.id, n.raw_id from distilled_notes n where n.id = argus_items_of.id
                union
                select m.id, m.raw_id from family f join distilled_notes m on m.superseded_by = f.id
                where m.deleted_reason in ('duplicate', 'refined')
            )
            select distinct raw_id from family
        $$;

        -- Who does it: set_config('argus.actor', …, true) in the transaction; the machine itself otherwise.
        create function argus_actor() returns text language sql stable as $$
            select coalesce(nullif(current_setting('argus.actor', true), ''), 'argus')
        $$;
        -- When it happens: the caller's clock where it says so, so that tests and imports are in order.
        -- `told`: the time that the changed row itself names.
        create function argus_clock(told timestamptz default null) returns timestamptz language sql stable as $$
            select coalesce(nullif(current_setting('argus.now', true), '')::timestamptz, told, now())
        $$;

        create function argus_withheld_for(n distilled_notes) returns text language sql immutable as $$
            select case
                when n.deleted_at is not null and n.deleted_reason in ('forgotten', 'corrected', 'superseded', 'redacted')
                    then n.deleted_reason
                when n.excluded_at is not null then 'excluded'
            end
        $$;

        -- One insert of all events of a change, by a plan that is kept: this runs for every note that is written.
        create function argus_note_changed() returns trigger language plpgsql as $$
        declare
            whats text[] := '{}';
            others bigint[] := '{}';
            times timestamptz[] := '{}';
            abouts jsonb[] := '{}';
            about jsonb := '{}';
            dated jsonb := '{}';
            fields text[];
        begin
            if new.valid_from is distinct from old.valid_from then
                dated := jsonb_build_object('valid_from',
                    jsonb_build_object('before', old.valid_from, 'after', new.valid_from));
            end if;
            if new.valid_to is distinct from old.valid_to then
                dated := dated || jsonb_build_object('valid_to',
                    jsonb_build_object('before', old.valid_to, 'after', new.valid_to));
            end if;
            if new.deleted_at is not null and (old.deleted_at is null
                    or new.deleted_reason is distinct from old.deleted_reason
                    or new.superseded_by is distinct from old.superseded_by) then
                whats := whats || case new.deleted_reason when 'duplicate' then 'merged' when 'refined' then 'refined'
                    when 'superseded' then 'superseded' when 'forgotten' then 'forgotten'
                    when 'corrected' then 'corrected' when 'redacted' then 'redacted' when 'rejected' then 'rejected'
                    when 'redistilled' then 'redistilled' else 'removed' end;
                others := others || new.superseded_by;
                times := times || new.deleted_at;
                abouts := abouts || (dated || jsonb_build_object('reason', coalesce(new.deleted_reason, '')));
                dated := '{}';
            elsif old.deleted_at is not null and new.deleted_at is null then
                whats := whats || 'restored'::text;
                others := others || old.superseded_by;
                times := times || null::timestamptz;
                abouts := abouts || (dated || jsonb_build_object('was', coalesce(old.deleted_reason, '')));
                dated := '{}';
            end if;
            if dated <> '{}' then
                whats := whats || 'dated'::text; others := others || null::bigint;
                times := times || null::timestamptz; abouts := abouts || dated;
            end if;
            if new.confidence <> old.confidence then
                whats := whats || case when new.confidence > old.confidence then 'reinforced' else 'weakened' end;
                others := others || null::bigint; times := times || null::timestamptz;
                abouts := abouts || jsonb_build_object('before', old.confidence, 'after', new.confidence);
            end if;
            fields := array_remove(array[
                case when new.title is distinct from old.title then 'title' end,
                case when new.category is distinct from old.category then 'category' end,
                case when new.importance is distinct from old.importance then 'importance' end,
                case when new.keywords is distinct from old.keywords then 'keywords' end,
                case when new.tags is distinct from old.tags then 'tags' end,
                case when new.context is distinct from old.context then 'context' end,
                case when new.source_ref is distinct from old.source_ref then 'source_ref' end,
                case when new.raw_id is distinct from old.raw_id then 'raw_id' end,
                case when new.model is distinct from old.model then 'model' end,
                case when new.confirmed_at is null and old.confirmed_at is not null then 'confirmed_at' end,
                case when new.exported_at is null and old.exported_at is not null then 'exported_at' end], null);
            if new.redacted_at is distinct from old.redacted_at and new.redacted_at is not null then
                -- Without the words that were taken out.
                if not 'redacted' = any (whats) then
                    whats := whats || 'redacted'::text; others := others || null::bigint;
                    times := times || new.redacted_at; abouts := abouts || about;
                end if;
            elsif new.content is distinct from old.content then
                whats := whats || 'reworded'::text; others := others || null::bigint;
                times := times || null::timestamptz;
                abouts := abouts || jsonb_build_object('before', old.content);
            elsif fields <> '{}' then
                whats := whats || 'revised'::text; others := others || null::bigint;
                times := times || null::timestamptz; abouts := abouts || jsonb_build_object('fields', fields);
            end if;
            if new.pinned_at is distinct from old.pinned_at then
                whats := whats || case when new.pinned_at is null then 'unpinned' else 'pinned' end;
                others := others || null::bigint; times := times || new.pinned_at; abouts := abouts || about;
            end if;
            if new.excluded_at is distinct from old.excluded_at then
                whats := whats || case when new.excluded_at is null then 'included' else 'excluded' end;
                others := others || null::bigint; times := times || new.excluded_at; abouts := abouts || about;
            end if;
            if new.confirmed_at is distinct from old.confirmed_at and new.confirmed_at is not null then
                whats := whats || 'confirmed'::text; others := others || null::bigint;
                times := times || new.confirmed_at; abouts := abouts || about;
            end if;
            if new.exported_at is distinct from old.exported_at and new.exported_at is not null then
                whats := whats || 'exported'::text; others := others || null::bigint;
                times := times || new.exported_at; abouts := abouts || about;
            end if;
            if new.project is distinct from old.project then
                whats := whats || 'moved'::text; others := others || null::bigint;
                times := times || null::timestamptz;
                abouts := abouts || jsonb_build_object('from', old.project, 'to', new.project);
            end if;
            insert into note_events (note_id, uid, project, at, event, other_id, actor, detail)
            select new.id, new.uid, new.project, argus_clock(e.told), e.what, e.other, argus_actor(), e.about
            from unnest(whats, others, times, abouts) with ordinality as e (what, other, told, about, place)
            order by e.place;
            if new.raw_id <> old.raw_id or (old.deleted_at, old.deleted_reason, old.excluded_at)
                    is distinct from (new.deleted_at, new.deleted_reason, new.excluded_at) then
                if argus_withheld_for(new) is distinct from argus_withheld_for(old) or new.raw_id <> old.raw_id then
                    delete from withheld_turns where note_id = new.id;
                    insert into withheld_turns (raw_id, note_id, reason, at)
                    select i, new.id, argus_withheld_for(new), argus_clock()
                    from argus_items_of(new.id) i where argus_withheld_for(new) is not null;
                end if;
            end if;
            return null;
        end $$;
        -- Not deduped_at, shown_count, last_shown_at, links, text_key: the machine's own notes to itself.
        create trigger distilled_notes_noted after update on distilled_notes
            for each row when (
                (old.deleted_at, old.deleted_reason, old.superseded_by, old.confidence, old.redacted_at, old.content,
                 old.title, old.category, old.importance, old.keywords, old.tags, old.context, old.source_ref,
                 old.raw_id, old.model, old.pinned_at, old.excluded_at, old.confirmed_at, old.exported_at,
                 old.project, old.valid_from, old.valid_to)
                is distinct from
                (new.deleted_at, new.deleted_reason, new.superseded_by, new.confidence, new.redacted_at, new.content,
                 new.title, new.category, new.importance, new.keywords, new.tags, new.context, new.source_ref,
                 new.raw_id, new.model, new.pinned_at, new.excluded_at, new.confirmed_at, new.exported_at,
                 new.project, new.valid_from, new.valid_to)
            ) execute function argus_note_changed();

        create function argus_notes_created() returns trigger language plpgsql as $$
        begin
            insert into note_events (note_id, uid, project, at, event, actor, detail)
            select n.id, n.uid, n.project, argus_clock(n.created_at), 'created', argus_actor(),
                   jsonb_build_object('model', n.model, 'confidence', n.confidence)
            from written n order by n.id;
            -- Written as excluded, as a regeneration does that carries it over.
            insert into withheld_turns (raw_id, note_id, reason, at)
            select n.raw_id, n.id, argus_withheld_for(n), argus_clock()
            from written n where (n.deleted_at is not null or n.excluded_at is not null)
                and argus_withheld_for(n) is not null;
            return null;
        end $$;
        create trigger distilled_notes_created after insert on distilled_notes
            referencing new table as written for each statement execute function argus_notes_created();

        -- One insert a recall; notes that were shown while somebody held them are among them.
        create function argus_notes_shown() returns trigger language plpgsql as $$
        begin
            insert into note_events (note_id, uid, project, at, event, actor, detail)
            select n.id, n.uid, n.project, new.at, 'shown', argus_actor(), jsonb_build_object('injection', new.id)
            from distilled_notes n where n.id = any (new.note_ids);
            return null;
        end $$;
        create trigger injections_noted after insert on injections
            for each row when (new.note_ids <> '{}') execute function argus_notes_shown();

        create function argus_merge_changed() returns trigger language plpgsql as $$
        declare
            what text := case
                when tg_op = 'INSERT' and new.status = 'pending' then 'held'
                when tg_op = 'UPDATE' and new.status is distinct from old.status then
                    case new.status when 'approved' then
                             case when new.decided_by = 'auto-approve' then 'auto-approved' else 'approved' end
                         when 'rejected' then 'rejected' when 'undone' then 'undone' when 'pending' then 'held' end
            end;
        begin
            if what is not null then
                insert into note_events (note_id, uid, project, at, event, other_id, actor, detail)
                select n.id, n.uid, n.project, argus_clock(coalesce(new.decided_at, new.at)), what,
                       case when n.id = new.note_id then new.other_id else new.note_id end,
                       coalesce(new.decided_by, argus_actor()),
                       jsonb_build_object('review', new.id, 'verdict', new.verdict)
                from distilled_notes n where n.id in (new.note_id, new.other_id);
            end if;
            return null;
        end $$;
        create trigger dedup_log_noted after insert or update on dedup_log
            for each row execute function argus_merge_changed();

        -- Whether a note was known and valid at a moment, as it was recorded by then.
        create function argus_live_at(note bigint, made timestamptz, since timestamptz, until timestamptz,
                                      moment timestamptz) returns boolean language sql stable as $$
            select made <= moment
                and coalesce((select e.detail ? 'was' from note_events e
                              where e.note_id = note and e.at <= moment and e.event <> 'shown'
                                and e.detail ?| array['reason', 'was']
                              order by e.id desc limit 1), true)
                and coalesce((select (e.detail #>> '{valid_from,before}')::timestamptz from note_events e
                              where e.note_id = note and e.at > moment and e.detail ? 'valid_from'
                              order by e.id limit 1), since) <= moment
                and coalesce((select coalesce((e.detail #>> '{valid_to,before}')::timestamptz, 'infinity')
                              from note_events e
                              where e.note_id = note and e.at > moment and e.detail ? 'valid_to'
                              order by e.id limit 1), until, 'infinity') > moment
        $$;

        -- What happened before events were written, as far as it is on record.
        insert into note_events (note_id, uid, project, at, event, other_id, actor, detail)
        select note_id, uid, project, at, event, other_id, actor, detail || '{"noted": "afterwards"}'
        from (
            select n.id as note_id, n.uid, n.project, n.created_at as at, 'created' as event, null::bigint as other_id,
                   'argus' as actor, jsonb_build_object('model', n.model) as detail
            from distilled_notes n
            union all
            select n.id, n.uid, n.project, n.deleted_at,
                   case n.deleted_reason when 'duplicate' then 'merged' when 'refined' then 'refined'
                       when 'superseded' then 'superseded' when 'redistilled' then 'redistilled' else 'removed' end,
                   n.superseded_by, 'argus',
                   jsonb_build_object('reason', coalesce(n.deleted_reason, '')) || case
                       when n.deleted_reason = 'superseded' then jsonb_build_object('valid_to',
                           jsonb_build_object('before', null, 'after', n.valid_to)) else '{}' end
            from distilled_notes n where n.deleted_at is not null
            union all
            select n.id, n.uid, n.project, coalesce(l.decided_at, l.at), case l.status when 'pending' then 'held'
                       else l.status end, case when n.id = l.note_id then l.other_id else l.note_id end,
                   coalesce(l.decided_by, 'argus'), jsonb_build_object('review', l.id, 'verdict', l.verdict)
            from dedup_log l join distilled_notes n on n.id in (l.note_id, l.other_id) where l.status <> 'applied'
        ) as past order by at, note_id;
        insert into withheld_turns (raw_id, note_id, reason, at)
        select n.raw_id, n.id, argus_withheld_for(n), coalesce(n.deleted_at, now()) from distilled_notes n
        where argus_withheld_for(n) is not null;
        """
    )
    _key_notes()


def _key_notes() -> None:
    """The key of every note that was made before there were any: only Python knows how a text is folded."""
    bind = op.get_bind()
    rows = bind.execute(text("select id, content from distilled_notes")).all()
    keys = [{"id": id_, "key": text_key(content)} for id_, content in rows]
    if keys:
        bind.execute(text("update distilled_notes set text_key = :key where id = :id"), keys)
