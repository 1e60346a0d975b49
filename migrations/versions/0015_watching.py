"""The watchdogs' own signs of life, and the history of what they measured."""

from alembic import op

revision = "0015_watching"
down_revision = "0014_alerts"


def upgrade() -> None:
    op.execute(
        r"""
        create table watcher_beats (
            watcher text primary key,
            at timestamptz not null,
            since timestamptz not null,
            host text not null,
            pid integer not null,
            pass_ms real,
            detail jsonb not null default '{}'
        );
        comment on table watcher_beats is 'one row each: watchdog (in the API), dagster (a sensor), sender (the outbox)';

        -- When a watcher was not there, as it found out when it came back: tells "missed" from "the hub was off".
        create table watcher_gaps (
            id bigint generated always as identity primary key,
            watcher text not null,
            from_at timestamptz not null,
            until_at timestamptz not null
        );
        create index watcher_gaps_until on watcher_gaps (until_at);

        create table audit_results (
            id bigint generated always as identity primary key,
            audit text not null,
            asset text not null,
            at timestamptz not null,
            status text not null constraint audit_results_status check (status in ('ok', 'failed', 'unknown')),
            severity text not null constraint audit_results_severity check (severity in ('warn', 'error')),
            total integer not null,
            offending jsonb not null,
            detail text,
            run_id text
        );
        create index audit_results_audit on audit_results (audit, at desc);

        create table slo_measurements (
            id bigint generated always as identity primary key,
            slo text not null,
            at timestamptz not null,
            value double precision,
            threshold double precision not null,
            status text not null constraint slo_measurements_status check (status in ('ok', 'failed', 'unknown')),
            detail text
        );
        comment on column slo_measurements.value is 'null where there was nothing to measure';
        create index slo_measurements_slo on slo_measurements (slo, at desc);

        create table canary_runs (
            id bigint generated always as identity primary key,
            marker text not null unique,
            session text not null,
            sent_at timestamptz not null,
            captured_at timestamptz,
            recalled_at timestamptz,
            outcome text constraint canary_runs_outcome check (outcome in ('ok', 'failed')),
            failed_at_step text,
            detail text
        );
        create index canary_runs_sent on canary_runs (sent_at desc);

        create table health_samples (
            id bigint generated always as identity primary key,
            at timestamptz not null,
            name text not null,
            status text not null constraint health_samples_status check (
                status in ('ok', 'warn', 'failed', 'unknown')),
            detail text
        );
        comment on table health_samples is 'a row at each change of a health check''s status, and one an hour';
        create index health_samples_name on health_samples (name, at desc);

        -- As 0004 has it, but a probe's turns get no vectors: words find them, and no run starts for their sake.
        create or replace function argus_after_capture() returns trigger language plpgsql as $$
        begin
            insert into turns (raw_id, source, session, project, role, speaker, asks, message_id, said_at, position, chars, tsv, tsv_length)
            select r.id, r.source, coalesce(nullif(r.session, ''), r.source || ':' || coalesce(r.project, '')), r.project, coalesce(r.metadata ->> 'role', 'user'),
                   argus_speaker(r.metadata, r.body), right(rtrim(r.body, E' \n\t'), 1) in ('?', '？', '؟'),
                   r.metadata ->> 'message_id', r.said_at, r.position, length(r.body), t.tsv, length(t.tsv)
            from captured r cross join lateral (select argus_tsvector(r.body) as tsv offset 0) t
            where r.kind = 'turn';

            insert into embed_queue (space_id, target, target_id)
            select s.id, 'turn', r.id from captured r cross join embedding_spaces s
            where r.kind = 'turn' and s.status <> 'retired' and r.project is distinct from 'argus-canary';

            insert into distill_state (unit_kind, unit_id, project, said_at)
            select 'item', r.id, r.project, r.said_at from captured r
            where r.kind <> 'turn' and r.project is distinct from 'argus-canary';
            return null;
        end $$;

        create table backups (
            id bigint generated always as identity primary key,
            started_at timestamptz not null,
            finished_at timestamptz not null,
            outcome text not null constraint backups_outcome check (outcome in ('proven', 'made', 'failed')),
            path text,
            bytes bigint,
            sha256 text,
            rows jsonb,
            revision text,
            tried_at timestamptz,
            error text,
            removed_at timestamptz
        );
        comment on column backups.outcome is 'proven: restored into a scratch database and compared; made: not tried';
        comment on column backups.rows is 'rows of each table at the moment of the dump';
        create index backups_finished on backups (finished_at desc);

        create trigger backups_kept before delete or truncate on backups
            for each statement execute function argus_refuse_change('what is known of backups is kept');
        create trigger audit_results_kept before update or truncate on audit_results
            for each statement execute function argus_refuse_change('results of audits are kept');
        create trigger canary_runs_kept before truncate on canary_runs
            for each statement execute function argus_refuse_change('canaries are kept');
        """
    )
