"""The runtimes of agent tasks: what each attempt came to, and until when one is capped."""

from alembic import op

revision = "0016_engines"
down_revision = "0015_watching"


def upgrade() -> None:
    op.execute(
        r"""
        create table engine_attempts (
            id bigint generated always as identity primary key,
            rid uuid,
            task text,
            stage text,
            turn integer not null default 0,
            place integer not null,
            engine text not null,
            model text,
            started_at timestamptz not null,
            finished_at timestamptz not null,
            outcome text not null constraint engine_attempts_outcome check (
                outcome in ('ok', 'capped', 'infra', 'content', 'timeout', 'left-alone')),
            reason text,
            reset_at timestamptz,
            exit_code integer,
            cost_usd numeric(14, 6),
            prompt_tokens bigint,
            completion_tokens bigint,
            session text,
            mcp_errors jsonb,
            next_engine text
        );
        comment on column engine_attempts.rid is 'the run of a task; null for a stage of memory';
        comment on column engine_attempts.cost_usd is 'null where it is not known, never 0 for unknown';
        comment on column engine_attempts.turn is 'of a loop of run_agent, from 0';
        create index engine_attempts_rid on engine_attempts (rid);
        create index engine_attempts_engine on engine_attempts (engine, finished_at desc);

        create table engine_states (
            engine text primary key,
            capped_until timestamptz,
            reason text,
            at timestamptz not null
        );

        create trigger engine_attempts_kept before update or delete or truncate on engine_attempts
            for each statement execute function argus_refuse_change('audit rows are kept');
        """
    )
