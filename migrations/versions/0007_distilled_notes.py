"""Grounded notes, tombstoned and never deleted, with what search needs of them."""

from alembic import op

revision = "0007_distilled_notes"
down_revision = "0006_segment_audit"


def upgrade() -> None:
    op.execute(
        r"""
        create table distilled_notes (
            id bigint generated always as identity primary key,
            -- hash of category, normalised text and project, computed once
            uid text not null,
            raw_id bigint not null references raw_items,
            episode_id bigint references episodes,
            title text not null constraint distilled_notes_title_length check (length(title) between 1 and 80),
            content text not null constraint distilled_notes_content_not_blank check (content <> ''),
            category text not null constraint distilled_notes_category check (
                category in ('preference', 'person', 'fact', 'decision', 'context', 'procedure')),
            importance real not null constraint distilled_notes_importance check (importance between 0 and 1),
            confidence real not null default 0.5 constraint distilled_notes_confidence check (confidence between 0 and 1),
            project text,
            keywords text[] not null default '{}',
            tags text[] not null default '{}',
            context text not null default '',
            links bigint[] not null default '{}',
            source_ref text not null constraint distilled_notes_grounded check (source_ref <> ''),
            source_start integer,
            source_end integer,
            role text,
            said_at timestamptz not null,
            model text not null,
            model_real text,
            valid_from timestamptz not null,
            valid_to timestamptz,
            shown_count integer not null default 0,
            last_shown_at timestamptz,
            created_at timestamptz not null default now(),
            deduped_at timestamptz,
            deleted_at timestamptz,
            deleted_reason text,
            superseded_by bigint references distilled_notes,
            tsv tsvector not null,
            tsv_length integer not null
        );
        comment on table distilled_notes is 'notes; live = deleted_at is null and valid_from <= now() and (valid_to is null or valid_to > now())';
        create index distilled_notes_tsv on distilled_notes using gin (tsv) where deleted_at is null;
        create index distilled_notes_uid on distilled_notes (uid) where deleted_at is null;
        create index distilled_notes_unit on distilled_notes (episode_id, raw_id);
        create index distilled_notes_raw on distilled_notes (raw_id);
        create index distilled_notes_order on distilled_notes (project, importance desc, valid_from desc, id desc)
            where deleted_at is null;
        create index distilled_notes_undeduped on distilled_notes (id) where deleted_at is null and deduped_at is null;

        create function argus_before_note() returns trigger language plpgsql as $$
        begin
            if tg_op = 'INSERT' or new.title is distinct from old.title or new.content is distinct from old.content
               or new.keywords is distinct from old.keywords then
                new.tsv := argus_tsvector(new.title || ' ' || new.content || ' ' || array_to_string(new.keywords, ' '));
                new.tsv_length := length(new.tsv);
            end if;
            return new;
        end $$;
        create trigger distilled_notes_terms before insert or update on distilled_notes
            for each row execute function argus_before_note();

        create function argus_after_note() returns trigger language plpgsql as $$
        begin
            insert into embed_queue (space_id, target, target_id)
            select s.id, 'note', n.id from written n cross join embedding_spaces s where s.status <> 'retired'
            on conflict do nothing;
            return null;
        end $$;
        create trigger distilled_notes_written after insert on distilled_notes
            referencing new table as written for each statement execute function argus_after_note();

        create trigger distilled_notes_kept before delete or truncate on distilled_notes
            for each statement execute function argus_refuse_change('notes are only tombstoned');
        """
    )
