"""The append-only record of everything captured."""

from alembic import op

revision = "0002_raw_items"
down_revision = "0001_guards"


def upgrade() -> None:
    op.execute(
        r"""
        create table raw_items (
            id bigint generated always as identity primary key,
            source text not null constraint raw_items_source_form check (source ~ '^[a-z][a-z0-9-]{1,31}$'),
            kind text not null constraint raw_items_kind check (kind in ('turn', 'document', 'event', 'synthesis')),
            body text not null constraint raw_items_body_not_blank check (body <> ''),
            cwd text,
            session text,
            project text,
            project_method text,
            project_confidence real,
            metadata jsonb not null default '{}',
            -- md5(session | original_timestamp | body), null as empty, over the masked body
            dedup_key text not null constraint raw_items_dedup_key unique,
            -- 'uuid:…' across all files and sessions, else 'text:…' (role, normalised text, timestamp)
            identity_key text constraint raw_items_identity_key unique,
            position bigint not null default 0,
            said_at timestamptz not null,
            captured_at timestamptz not null default now()
        );
        comment on table raw_items is 'append-only: every captured turn, document, event and synthesis, verbatim';
        create index raw_items_session on raw_items (session, said_at, position, id) where session is not null;
        create index raw_items_said_at on raw_items (said_at);
        create index raw_items_captured_at on raw_items (captured_at);
        create index raw_items_project on raw_items (project, said_at desc);

        create trigger raw_items_immutable before update or delete on raw_items
            for each statement execute function argus_refuse_change('raw items are append-only');
        create trigger raw_items_no_truncate before truncate on raw_items
            for each statement execute function argus_refuse_change('raw items are append-only');
        """
    )
