"""Tasks: what is in force, when each was expected, and a report of every run."""

from alembic import op

revision = "0013_tasks"
down_revision = "0012_projects"


def upgrade() -> None:
    op.execute(
        r"""
        -- What the last load of config.ini said. A stanza that cannot be used has its problem here and runs nothing.
        create table tasks (
            name text primary key,
            handler text,
            spec jsonb not null default '{}',
            problem text,
            first_seen_at timestamptz not null,
            changed_at timestamptz not null,
            removed_at timestamptz
        );
        comment on column tasks.spec is 'the stanza as read, with env values masked';
        comment on column tasks.problem is 'file, line, what is wrong and the cure; null where the task can run';

        -- The schedule in force from one moment to the next: an occurrence is judged by the one of its own time.
        create table task_schedules (
            id bigint generated always as identity primary key,
            task text not null references tasks,
            schedule text not null,
            timezone text not null,
            start_grace interval not null,
            max_runtime interval not null,
            mode text not null constraint task_schedules_mode check (mode in ('run', 'observe')),
            failures_before_alert integer not null,
            from_at timestamptz not null,
            until_at timestamptz,
            entered_until timestamptz
        );
        comment on column task_schedules.entered_until is 'up to here its occurrences stand in expected_runs';
        create unique index task_schedules_in_force on task_schedules (task) where until_at is null;
        create index task_schedules_task on task_schedules (task, from_at);

        create table task_pauses (
            id bigint generated always as identity primary key,
            task text not null references tasks,
            from_at timestamptz not null,
            until_at timestamptz,
            ended_at timestamptz,
            ended_by text,
            actor text not null,
            reason text
        );
        comment on column task_pauses.until_at is 'when it ends by itself; null: when somebody ends it';
        create index task_pauses_task on task_pauses (task, from_at);

        create table task_runs (
            id bigint generated always as identity primary key,
            rid uuid not null unique,
            task text not null,
            handler text,
            started_by text not null constraint task_runs_started_by check (
                started_by in ('schedule', 'person', 'catch-up', 'report')),
            due_at timestamptz,
            dagster_run_id text,
            attempt integer not null default 0,
            host text,
            pid integer,
            pid_started_at timestamptz,
            started_at timestamptz not null,
            beat_at timestamptz not null,
            finished_at timestamptz,
            outcome text constraint task_runs_outcome check (
                outcome in ('ok', 'failed', 'timed-out', 'skipped', 'overrunning', 'orphaned')),
            exit_code integer,
            signal integer,
            reason text,
            stdout_tail text,
            stderr_tail text,
            stdout_bytes bigint,
            stderr_bytes bigint,
            output jsonb,
            metrics jsonb,
            cost_usd numeric(14, 6),
            engine text,
            redactions jsonb,
            retries_left integer not null default 0
        );
        comment on column task_runs.rid is 'pairs the reports of one run';
        comment on column task_runs.outcome is 'null while it runs; overrunning is replaced when the run ends';
        comment on column task_runs.cost_usd is 'null where it is not known';
        comment on column task_runs.signal is 'that ended the process; null where it ended by itself';
        create index task_runs_task on task_runs (task, started_at desc);
        create index task_runs_due on task_runs (task, due_at);
        create index task_runs_open on task_runs (started_at) where finished_at is null;
        create index task_runs_started on task_runs (started_at desc);

        create table expected_runs (
            id bigint generated always as identity primary key,
            task text not null,
            due_at timestamptz not null,
            start_by timestamptz not null,
            max_runtime interval not null,
            schedule text not null,
            timezone text not null,
            mode text not null constraint expected_runs_mode check (mode in ('run', 'observe')),
            status text not null default 'expected' constraint expected_runs_status check (
                status in ('expected', 'queued', 'started', 'late', 'ok', 'failed', 'missed', 'overrunning',
                           'skipped-overlap', 'paused')),
            status_at timestamptz not null,
            decided_by text not null,
            reason text,
            task_run_id bigint references task_runs,
            dagster_run_id text,
            constraint expected_runs_once unique (task, due_at)
        );
        create index expected_runs_open on expected_runs (due_at)
            where status in ('expected', 'queued', 'started', 'late', 'overrunning');
        create index expected_runs_due on expected_runs (due_at desc);
        create index expected_runs_missed on expected_runs (due_at) where status = 'missed';

        -- Every change of an expectation, written here by the database itself.
        create table expected_run_events (
            id bigint generated always as identity primary key,
            expected_run_id bigint not null references expected_runs,
            at timestamptz not null,
            from_status text,
            to_status text not null,
            decided_by text not null,
            reason text
        );
        create index expected_run_events_of on expected_run_events (expected_run_id);

        create function argus_note_expected_run() returns trigger language plpgsql as $$
        begin
            if tg_op = 'INSERT' or new.status is distinct from old.status then
                insert into expected_run_events (expected_run_id, at, from_status, to_status, decided_by, reason)
                values (new.id, new.status_at, case when tg_op = 'UPDATE' then old.status end, new.status,
                        new.decided_by, new.reason);
            end if;
            return null;
        end $$;
        create trigger expected_runs_noted after insert or update on expected_runs
            for each row execute function argus_note_expected_run();

        -- Reports as they came in, before anything is made of them; also those nobody can use.
        create table run_reports (
            id bigint generated always as identity primary key,
            received_at timestamptz not null,
            task text,
            rid uuid,
            source text not null,
            body jsonb not null,
            verdict text not null constraint run_reports_verdict check (
                verdict in ('started', 'finished', 'repeated', 'unknown-task', 'contradicts', 'refused')),
            reason text
        );
        create index run_reports_task on run_reports (task, received_at desc);

        create trigger task_runs_kept before delete or truncate on task_runs
            for each statement execute function argus_refuse_change('reports of runs are kept');
        create trigger expected_runs_kept before delete or truncate on expected_runs
            for each statement execute function argus_refuse_change('the due ledger is kept');
        create trigger expected_run_events_kept before update or delete or truncate on expected_run_events
            for each statement execute function argus_refuse_change('the due ledger is kept');
        create trigger run_reports_kept before update or delete or truncate on run_reports
            for each statement execute function argus_refuse_change('reports of runs are kept');
        create trigger task_schedules_kept before delete or truncate on task_schedules
            for each statement execute function argus_refuse_change('schedules that were in force are kept');
        create trigger task_pauses_kept before delete or truncate on task_pauses
            for each statement execute function argus_refuse_change('what a person decided is kept');
        """
    )
