"""Every verdict on a pair of notes, held ones included."""

from alembic import op

revision = "0010_dedup_log"
down_revision = "0009_vectors"


def upgrade() -> None:
    op.execute(
        r"""
        create table dedup_log (
            id bigint generated always as identity primary key,
            pass_id bigint,
            -- duplicate: note_id repeats other_id and is tombstoned; else note_id was said later than other_id
            note_id bigint not null references distilled_notes,
            other_id bigint references distilled_notes,
            verdict text not null constraint dedup_log_verdict check (
                verdict in ('duplicate', 'refine', 'supersede', 'distinct')),
            similarity real,
            same_fact boolean,
            model text not null,
            status text not null constraint dedup_log_status check (
                status in ('applied', 'pending', 'approved', 'rejected', 'undone')),
            reasoning text not null,
            -- of the note that stays: other_id for duplicate, note_id for refine; for supersede of the older one
            confidence_before real,
            confidence_after real,
            valid_to_before timestamptz,
            decided_by text,
            decided_at timestamptz,
            at timestamptz not null default now()
        );
        create index dedup_log_note on dedup_log (note_id);
        create index dedup_log_other on dedup_log (other_id);
        create index dedup_log_pending on dedup_log (id) where status = 'pending';

        create index distilled_notes_survivor on distilled_notes (superseded_by) where superseded_by is not null;
        create index distilled_notes_orphans on distilled_notes (id)
            where deleted_at is not null and deduped_at is null and superseded_by is not null;

        -- When a note is not made again of its source, what was merged into it has lost its stand-in: dedup looks.
        create function argus_orphan_notes() returns trigger language plpgsql as $$
        begin
            update distilled_notes set deduped_at = null
            where superseded_by = new.id and deleted_at is not null and deduped_at is not null;
            return null;
        end $$;
        create trigger distilled_notes_orphaned after update of deleted_reason on distilled_notes
            for each row when (new.deleted_reason = 'redistilled' and old.deleted_at is null)
            execute function argus_orphan_notes();

        create trigger dedup_log_kept before delete or truncate on dedup_log
            for each statement execute function argus_refuse_change('audit rows are kept');
        """
    )
