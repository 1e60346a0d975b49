"""What became of captures that are not new rows, and who sends them."""

from alembic import op

revision = "0005_capture_audit"
down_revision = "0004_turns"


def upgrade() -> None:
    op.execute(
        r"""
        create table capture_outcomes (
            id bigint generated always as identity primary key,
            at timestamptz not null default now(),
            source text not null,
            session text,
            outcome text not null constraint capture_outcomes_outcome check (
                outcome in ('duplicate', 'skipped', 'refused')),
            reason text,
            count integer not null
        );
        create index capture_outcomes_at on capture_outcomes (at);

        create table redactions (
            id bigint generated always as identity primary key,
            raw_id bigint references raw_items,
            source text not null,
            kind text not null,
            count integer not null,
            at timestamptz not null default now()
        );
        comment on table redactions is 'masked secrets by kind, never by value; raw_id is null for an item that was only a secret';
        create index redactions_raw on redactions (raw_id);

        create table document_fingerprints (
            raw_id bigint primary key references raw_items,
            bands bigint[] not null,
            shingles integer not null,
            signature bigint[] not null
        );
        create index document_fingerprints_bands on document_fingerprints using gin (bands);

        create table near_duplicates (
            raw_id bigint primary key references raw_items,
            of_raw_id bigint not null references raw_items,
            similarity real not null,
            at timestamptz not null default now()
        );

        create table session_marks (
            id bigint generated always as identity primary key,
            session text not null,
            source text not null,
            mark text not null constraint session_marks_mark check (mark in ('start', 'end', 'clear', 'compact')),
            at timestamptz not null,
            host text,
            detail text,
            recorded_at timestamptz not null default now()
        );
        create index session_marks_session on session_marks (session, at desc);
        create index session_marks_recorded on session_marks (recorded_at);

        create table hook_heartbeats (
            host text not null,
            target text not null,
            version text not null,
            event text not null,
            session text,
            missed jsonb,
            first_at timestamptz not null default now(),
            at timestamptz not null,
            beats bigint not null default 1,
            primary key (host, target)
        );

        create trigger capture_outcomes_kept before delete or truncate on capture_outcomes
            for each statement execute function argus_refuse_change('audit rows are kept');
        create trigger redactions_kept before delete or truncate on redactions
            for each statement execute function argus_refuse_change('audit rows are kept');
        create trigger session_marks_kept before update or delete or truncate on session_marks
            for each statement execute function argus_refuse_change('audit rows are kept');
        create trigger near_duplicates_kept before delete or truncate on near_duplicates
            for each statement execute function argus_refuse_change('audit rows are kept');
        """
    )
