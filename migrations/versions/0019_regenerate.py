"""Regeneration with its snapshot and diff; whether what was shown was used; files and centroids."""

from alembic import op

revision = "0019_regenerate"
down_revision = "0018_decisions"


def upgrade() -> None:
    op.execute(
        r"""
        create table regenerations (
            id bigint generated always as identity primary key,
            mode text not null constraint regenerations_mode check (mode in ('switch', 'dry-run', 'reconcile')),
            first_day date not null,
            last_day date not null,
            actor text not null,
            model text not null,
            started_at timestamptz not null,
            finished_at timestamptz,
            status text not null default 'running' constraint regenerations_status check (
                status in ('running', 'switched', 'held', 'shown', 'failed', 'abandoned', 'dismissed')),
            units integer not null default 0,
            counts jsonb not null default '{}',
            loss real,
            loss_guard real not null,
            error text,
            run_id text,
            decided_by text,
            decided_at timestamptz
        );
        comment on column regenerations.status is 'held: more was lost than the guard allows, a person decides; shown: a dry run or a reconcile; abandoned: its process died';
        comment on column regenerations.loss is 'share of the standing notes that were not made again';
        create index regenerations_started on regenerations (started_at desc);
        create unique index regenerations_one on regenerations ((true)) where status = 'running';

        -- What was replayed: episodes, items, and spans of turns that the present rules would cut otherwise.
        create table regeneration_units (
            regeneration_id bigint not null references regenerations,
            unit_kind text not null constraint regeneration_units_kind check (unit_kind in ('episode', 'item', 'span')),
            -- an episode's or a raw item's; of a span the raw id of its first turn
            unit_id bigint not null,
            session text,
            raw_ids bigint[],
            said_at timestamptz not null,
            outcome text not null constraint regeneration_units_outcome check (
                outcome in ('made', 'failed', 'passed-over')),
            fingerprint text not null,
            notes_before integer not null,
            candidates integer not null,
            rejected integer not null,
            model text,
            model_real text,
            remark text,
            primary key (regeneration_id, unit_kind, unit_id)
        );
        comment on column regeneration_units.fingerprint is 'the unit''s state and notes as they were read: one that changed since is not switched';
        create index distill_state_said_at on distill_state (said_at);

        -- The snapshot and the diff: one row a note on either side, before anything is switched.
        create table regeneration_notes (
            id bigint generated always as identity primary key,
            regeneration_id bigint not null references regenerations,
            unit_kind text not null,
            unit_id bigint not null,
            change text not null constraint regeneration_notes_change check (
                change in ('added', 'removed', 'changed', 'unchanged', 'kept-by-decision', 'refused-by-decision')),
            old_note_id bigint references distilled_notes,
            old_uid text,
            old_text text,
            new_uid text,
            new_text text,
            candidate jsonb,
            detail text
        );
        create index regeneration_notes_of on regeneration_notes (regeneration_id, id);

        create table injection_uses (
            injection_id bigint not null references injections,
            note_id bigint not null references distilled_notes,
            used boolean not null,
            score real not null,
            turn_raw_id bigint not null references raw_items,
            at timestamptz not null,
            primary key (injection_id, note_id)
        );
        comment on table injection_uses is 'whether an injected note was used by the next answer of its session';
        create index injection_uses_note on injection_uses (note_id);

        create table note_files (
            note_id bigint not null references distilled_notes,
            path text not null,
            repo text,
            commit text,
            noticed_at timestamptz not null,
            primary key (note_id, path)
        );
        comment on column note_files.commit is 'the repository''s commit when the note was written; null: not known';

        create table project_centroids (
            project_id bigint not null references projects,
            space_id bigint not null references embedding_spaces,
            sums real[] not null,
            turns bigint not null,
            last_turn_id bigint not null,
            rebuilt_at timestamptz not null,
            primary key (project_id, space_id)
        );
        comment on column project_centroids.sums is 'sum of the vectors; the centroid is its direction';

        alter table projects
            add column merged_into bigint references projects,
            add column renamed_at timestamptz;
        create table project_aliases (
            alias text primary key,
            project_id bigint not null references projects,
            at timestamptz not null,
            actor text not null
        );
        create table project_changes (
            id bigint generated always as identity primary key,
            at timestamptz not null,
            change text not null constraint project_changes_change check (
                change in ('renamed', 'merged', 'alias', 'assigned', 'undone')),
            project text not null,
            other text,
            actor text not null,
            detail jsonb not null default '{}'
        );
        create table project_mismatches (
            episode_id bigint primary key references episodes,
            project text,
            suggested text not null,
            similarity real not null,
            margin real not null,
            at timestamptz not null
        );

        create trigger regenerations_kept before delete or truncate on regenerations
            for each statement execute function argus_refuse_change('audit rows are kept');
        create trigger regeneration_units_kept before update or delete or truncate on regeneration_units
            for each statement execute function argus_refuse_change('audit rows are kept');
        create trigger regeneration_notes_kept before update or delete or truncate on regeneration_notes
            for each statement execute function argus_refuse_change('audit rows are kept');
        create trigger injection_uses_kept before delete or truncate on injection_uses
            for each statement execute function argus_refuse_change('audit rows are kept');
        create trigger project_changes_kept before update or delete or truncate on project_changes
            for each statement execute function argus_refuse_change('audit rows are kept');
        """
    )
