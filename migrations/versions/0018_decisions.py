"""What people decide of notes, everything that ever happens to a note, and turns that recall withholds."""

from alembic import op

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
            decided_at timestamptz
        );
        comment on table note_decisions is 'keyed by the note''s uid and its normalised text, never by a row id alone';
        comment on column note_decisions.status is 'held: an agent''s, waiting for a person; overtaken: a later one of the same kind is in force';
        comment on column note_decisions.arrival is 'the forget --source/--session/--project/--since it came with';
        create index note_decisions_uid on note_decisions (uid, id);
        create index note_decisions_text on note_decisions (text_key, id);
        create index note_decisions_forgotten on note_decisions (project, id)
            where decision in ('forget', 'reject', 'correct') and status = 'in-force';
        create index note_decisions_held on note_decisions (id) where status = 'held';
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

        create table note_events (
            id bigint generated always as identity primary key,
            note_id bigint not null references distilled_notes,
            uid text not null,
            at timestamptz not null,
            event text not null constraint note_events_event check (
                event in ('created', 'reinforced', 'weakened', 'reworded', 'refined', 'superseded', 'merged', 'held',
                          'approved', 'rejected', 'auto-approved', 'undone', 'pinned', 'unpinned', 'excluded',
                          'included', 'forgotten', 'restored', 'corrected', 'redacted', 'confirmed', 'exported',
                          'shown', 'moved', 'redistilled', 'removed')),
            other_id bigint,
            actor text not null,
            detail jsonb not null default '{}'
        );
        create index note_events_note on note_events (note_id, id);
        create index note_events_uid on note_events (uid, id);
        create index note_events_at on note_events (at desc);
        create trigger note_events_kept before update or delete or truncate on note_events
            for each statement execute function argus_refuse_change('history is kept');

        -- Turns whose words support what was forgotten, excluded, corrected or superseded: no recall shows them.
        create table withheld_turns (
            raw_id bigint not null references raw_items,
            note_id bigint not null references distilled_notes,
            reason text not null,
            at timestamptz not null,
            primary key (raw_id, note_id)
        );

        -- Who does it: set_config('argus.actor', …, true) in the transaction; the machine itself otherwise.
        create function argus_actor() returns text language sql stable as $$
            select coalesce(nullif(current_setting('argus.actor', true), ''), 'argus')
        $$;
        -- When it happens: the caller's clock where it says so, so that tests and imports are in order.
        create function argus_clock() returns timestamptz language sql stable as $$
            select coalesce(nullif(current_setting('argus.now', true), '')::timestamptz, now())
        $$;

        create function argus_withheld_for(n distilled_notes) returns text language sql immutable as $$
            select case
                when n.deleted_at is not null and n.deleted_reason in ('forgotten', 'corrected', 'superseded', 'redacted')
                    then n.deleted_reason
                when n.excluded_at is not null then 'excluded'
            end
        $$;

        create function argus_note_event(n distilled_notes, what text, other bigint, about jsonb) returns void
        language sql as $$
            insert into note_events (note_id, uid, at, event, other_id, actor, detail)
            values (n.id, n.uid, argus_clock(), what, other, argus_actor(), coalesce(about, '{}'))
        $$;

        create function argus_note_changed() returns trigger language plpgsql as $$
        begin
            if tg_op = 'INSERT' then
                perform argus_note_event(new, 'created', null, jsonb_build_object('model', new.model,
                    'confidence', new.confidence));
                return null;
            end if;
            if old.deleted_at is null and new.deleted_at is not null then
                perform argus_note_event(new,
                    case new.deleted_reason when 'duplicate' then 'merged' when 'refined' then 'refined'
                        when 'superseded' then 'superseded' when 'forgotten' then 'forgotten'
                        when 'corrected' then 'corrected' when 'redacted' then 'redacted'
                        when 'redistilled' then 'redistilled' else 'removed' end,
                    new.superseded_by, jsonb_build_object('reason', new.deleted_reason));
            elsif old.deleted_at is not null and new.deleted_at is null then
                perform argus_note_event(new, 'restored', old.superseded_by, jsonb_build_object('was', old.deleted_reason));
            end if;
            if new.confidence > old.confidence then
                perform argus_note_event(new, 'reinforced', null,
                    jsonb_build_object('before', old.confidence, 'after', new.confidence));
            elsif new.confidence < old.confidence then
                perform argus_note_event(new, 'weakened', null,
                    jsonb_build_object('before', old.confidence, 'after', new.confidence));
            end if;
            if new.redacted_at is distinct from old.redacted_at then
                -- Without the words that were taken out.
                perform argus_note_event(new, 'redacted', null, null);
            elsif new.content is distinct from old.content then
                perform argus_note_event(new, 'reworded', null, jsonb_build_object('before', old.content));
            end if;
            if new.pinned_at is distinct from old.pinned_at then
                perform argus_note_event(new, case when new.pinned_at is null then 'unpinned' else 'pinned' end, null, null);
            end if;
            if new.excluded_at is distinct from old.excluded_at then
                perform argus_note_event(new, case when new.excluded_at is null then 'included' else 'excluded' end,
                    null, null);
            end if;
            if new.confirmed_at is distinct from old.confirmed_at and new.confirmed_at is not null then
                perform argus_note_event(new, 'confirmed', null, null);
            end if;
            if new.exported_at is distinct from old.exported_at and new.exported_at is not null then
                perform argus_note_event(new, 'exported', null, null);
            end if;
            if new.shown_count > old.shown_count then
                perform argus_note_event(new, 'shown', null, null);
            end if;
            if new.project is distinct from old.project then
                perform argus_note_event(new, 'moved', null, jsonb_build_object('from', old.project, 'to', new.project));
            end if;
            if argus_withheld_for(new) is distinct from argus_withheld_for(old) then
                delete from withheld_turns where note_id = new.id;
                insert into withheld_turns (raw_id, note_id, reason, at)
                select new.raw_id, new.id, argus_withheld_for(new), argus_clock()
                where argus_withheld_for(new) is not null;
            end if;
            return null;
        end $$;
        create trigger distilled_notes_noted after insert or update on distilled_notes
            for each row execute function argus_note_changed();

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
                insert into note_events (note_id, uid, at, event, other_id, actor, detail)
                select n.id, n.uid, argus_clock(), what,
                       case when n.id = new.note_id then new.other_id else new.note_id end,
                       coalesce(new.decided_by, argus_actor()),
                       jsonb_build_object('review', new.id, 'verdict', new.verdict)
                from distilled_notes n where n.id in (new.note_id, new.other_id);
            end if;
            return null;
        end $$;
        create trigger dedup_log_noted after insert or update on dedup_log
            for each row execute function argus_merge_changed();
        """
    )
