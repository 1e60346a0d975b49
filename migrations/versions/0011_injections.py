"""The recall ledger: every recall, an empty or skipped one too."""

from alembic import op

revision = "0011_injections"
down_revision = "0010_dedup_log"


def upgrade() -> None:
    op.execute(
        r"""
        create table injections (
            id bigint generated always as identity primary key,
            at timestamptz not null default now(),
            session text,
            query text,
            cwd text,
            project text,
            prompt_mode boolean not null,
            note_ids bigint[] not null default '{}',
            note_scores real[] not null default '{}',
            rrf_scores real[] not null default '{}',
            turn_ids bigint[] not null default '{}',
            turn_scores real[] not null default '{}',
            -- [{"type", "id", "score", "rrf_score", "reason"}] of what was found and left out
            dropped jsonb not null default '[]',
            skipped text,
            degraded text,
            floor real,
            characters integer not null default 0,
            milliseconds real,
            host text
        );
        comment on column injections.degraded is 'why a track was missing: embedder down, vectors behind';
        create index injections_session on injections (session, id);
        create index injections_at on injections (at);
        create trigger injections_kept before delete or truncate on injections
            for each statement execute function argus_refuse_change('audit rows are kept');

        -- Document frequencies for BM25, kept by housekeeping and never exact to the row. Terms of one or two documents
        -- are left out: they are most of all terms, and all alike as rare.
        create table term_frequencies (
            track text not null constraint term_frequencies_track check (track in ('turn', 'note')),
            term text not null,
            documents integer not null,
            primary key (track, term)
        );
        create table term_statistics (
            track text primary key,
            documents bigint not null,
            average_length real not null,
            -- rows up to this id are counted; what lies above it tells how far the store has grown since
            last_id bigint not null,
            refreshed_at timestamptz not null
        );
        """
    )
