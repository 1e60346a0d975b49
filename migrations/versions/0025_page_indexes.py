"""What pages list quickly: calls of a unit and by time, settled merges; and a call's trace."""

from alembic import op

revision = "0025_page_indexes"
down_revision = "0024_projects"


def upgrade() -> None:
    op.execute(
        """
        alter table llm_calls add column trace_id text;
        comment on column llm_calls.trace_id is 'of Langfuse, where ARGUS_LANGFUSE_URL is set';
        create index llm_calls_unit on llm_calls (unit_kind, unit_id) where unit_id is not null;
        create index llm_calls_at on llm_calls (at desc, id desc);
        create index dedup_log_settled on dedup_log ((coalesce(decided_at, at)) desc, id desc)
            where verdict <> 'distinct' and status <> 'pending';
        """
    )
