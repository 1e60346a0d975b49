"""Every boundary check, fired or not, and every reopened episode."""

from alembic import op

revision = "0006_segment_audit"
down_revision = "0005_capture_audit"


def upgrade() -> None:
    op.execute(
        r"""
        create table segment_checks (
            id bigint generated always as identity primary key,
            session text not null,
            -- the turn the boundary would stand before; null when the end of the tail was asked about
            before_raw_id bigint references raw_items,
            after_raw_id bigint references raw_items,
            episode_id bigint references episodes,
            reason text not null constraint segment_checks_reason check (
                reason in ('size-cap', 'time-gap', 'topic-shift', 'idle', 'session-end', 'next-session')),
            score real,
            threshold real,
            fired boolean not null,
            status text not null default 'ok' constraint segment_checks_status check (
                status in ('ok', 'unavailable', 'too-few-turns', 'too-short', 'inside-answer')),
            at timestamptz not null default now()
        );
        create index segment_checks_session on segment_checks (session, id);
        -- A boundary that is asked about again with the same outcome is no second row.
        create unique index segment_checks_boundary on segment_checks (
            session, after_raw_id, before_raw_id, reason, fired, status) nulls not distinct;
        create index segment_checks_episode on segment_checks (episode_id);
        create index segment_checks_at on segment_checks (at);

        create table episode_events (
            id bigint generated always as identity primary key,
            episode_id bigint not null references episodes,
            event text not null constraint episode_events_event check (event in ('closed', 'reopened', 'replaced')),
            detail jsonb not null default '{}',
            at timestamptz not null default now()
        );
        create index episode_events_episode on episode_events (episode_id);

        create trigger segment_checks_kept before delete or truncate on segment_checks
            for each statement execute function argus_refuse_change('audit rows are kept');
        create trigger episode_events_kept before update or delete or truncate on episode_events
            for each statement execute function argus_refuse_change('audit rows are kept');
        """
    )
