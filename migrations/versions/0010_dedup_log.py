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
            confidence_before real,
            confidence_after real,
            decided_by text,
            decided_at timestamptz,
            at timestamptz not null default now()
        );
        create index dedup_log_note on dedup_log (note_id);
        create index dedup_log_other on dedup_log (other_id);
        create index dedup_log_pending on dedup_log (id) where status = 'pending';
        create trigger dedup_log_kept before delete or truncate on dedup_log
            for each statement execute function argus_refuse_change('audit rows are kept');
        """
    )
