"""Whether what was shown was used: which injections were looked at, and how that ended."""

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
        create trigger injection_checks_kept before delete or truncate on injection_checks
            for each statement execute function argus_refuse_change('audit rows are kept');
        """
    )
