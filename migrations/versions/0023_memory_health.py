"""How healthy the memory was, day by day."""

from alembic import op

revision = "0023_memory_health"
down_revision = "0022_life"


def upgrade() -> None:
    op.execute(
        r"""
        create table memory_health (
            id bigint generated always as identity primary key,
            at timestamptz not null,
            project text,
            score real,
            parts jsonb not null
        );
        comment on column memory_health.project is 'null: the whole memory';
        comment on column memory_health.score is '0 to 100; null where nothing could be judged';
        create index memory_health_at on memory_health (project, at desc);
        create trigger memory_health_kept before delete or truncate on memory_health
            for each statement execute function argus_refuse_change('audit rows are kept');
        """
    )
