"""Which injections were looked at for their use, and how that ended; what became of files that notes name."""

from alembic import op

revision = "0022_life"
down_revision = "0021_auto_approve"


def upgrade() -> None:
    op.execute(
        r"""
        create table injection_checks (
            injection_id bigint primary key references injections,
            at timestamptz not null,
            outcome text not null constraint injection_checks_outcome check (outcome in ('scored', 'no-answer')),
            answer_ids bigint[] not null default '{}'
        );
        comment on table injection_checks is 'injections whose answer was looked at, or never came; their notes stand in injection_uses';
        comment on column injection_checks.answer_ids is 'raw items of the turns that the answer is made of';
        create index injections_to_check on injections (id) where note_ids <> '{}' and session is not null;
        create index injection_uses_at on injection_uses (at);
        alter table note_files
            add column checked_at timestamptz,
            add column said text constraint note_files_said check (said in ('unchanged', 'changed', 'gone', 'unknown')),
            add column changed_on date;
        comment on column note_files.said is 'what git said of the file since the commit, when it was asked last';
        create index note_files_checked on note_files (checked_at nulls first) where commit is not null;
        create trigger injection_checks_kept before delete or truncate on injection_checks
            for each statement execute function argus_refuse_change('audit rows are kept');
        """
    )
