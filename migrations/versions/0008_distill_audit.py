"""Rejected candidates, failures, model calls and the trace of every pass."""

from alembic import op

revision = "0008_distill_audit"
down_revision = "0007_distilled_notes"


def upgrade() -> None:
    op.execute(
        r"""
        create table gate_rejections (
            id bigint generated always as identity primary key,
            unit_kind text not null,
            unit_id bigint not null,
            raw_id bigint references raw_items,
            episode_id bigint references episodes,
            title text,
            content text,
            source_ref text,
            reason text not null,
            detail text,
            model text,
            at timestamptz not null default now()
        );
        create index gate_rejections_unit on gate_rejections (unit_kind, unit_id);
        create index gate_rejections_at on gate_rejections (at);

        create table distill_failures (
            id bigint generated always as identity primary key,
            unit_kind text not null,
            unit_id bigint not null,
            class text not null constraint distill_failures_class check (class in ('infra', 'content', 'configuration')),
            status_code integer,
            detail text not null,
            model text,
            attempt integer not null,
            parked boolean not null default false,
            at timestamptz not null default now()
        );
        create index distill_failures_unit on distill_failures (unit_kind, unit_id);
        create index distill_failures_at on distill_failures (at);

        create table llm_calls (
            id bigint generated always as identity primary key,
            at timestamptz not null default now(),
            stage text not null,
            unit_kind text,
            unit_id bigint,
            model text not null,
            model_real text,
            tier integer not null default 0,
            prompt_tokens integer,
            completion_tokens integer,
            cost_usd double precision,
            milliseconds integer not null,
            outcome text not null constraint llm_calls_outcome check (
                outcome in ('ok', 'infra', 'content', 'configuration')),
            status_code integer,
            detail text,
            run_id text
        );
        comment on column llm_calls.cost_usd is 'null when unknown, never 0 for unknown';
        create index llm_calls_stage on llm_calls (stage, at);

        create table stage_passes (
            id bigint generated always as identity primary key,
            stage text not null,
            started_at timestamptz not null,
            finished_at timestamptz not null,
            outcome text not null constraint stage_passes_outcome check (outcome in ('ok', 'failed')),
            counts jsonb not null,
            error text,
            run_id text
        );
        create index stage_passes_stage on stage_passes (stage, finished_at desc);

        create trigger gate_rejections_kept before delete or truncate on gate_rejections
            for each statement execute function argus_refuse_change('audit rows are kept');
        create trigger distill_failures_kept before delete or truncate on distill_failures
            for each statement execute function argus_refuse_change('audit rows are kept');
        create trigger llm_calls_kept before delete or truncate on llm_calls
            for each statement execute function argus_refuse_change('audit rows are kept');
        create trigger stage_passes_kept before update or delete or truncate on stage_passes
            for each statement execute function argus_refuse_change('audit rows are kept');
        """
    )
