"""Alerts, one open row for each thing that is wrong, and the outbox that carries them."""

from alembic import op

revision = "0014_alerts"
down_revision = "0013_tasks"


def upgrade() -> None:
    op.execute(
        r"""
        create table alerts (
            id bigint generated always as identity primary key,
            kind text not null,
            subject text not null,
            severity text not null constraint alerts_severity check (severity in ('warn', 'error')),
            title text not null,
            detail text,
            evidence jsonb not null default '{}',
            channel text,
            opened_at timestamptz not null,
            opened_by text not null,
            closed_at timestamptz,
            closed_by text,
            reminded_at timestamptz,
            reminders integer not null default 0,
            snoozed_until timestamptz
        );
        comment on table alerts is 'one row from the moment a thing goes wrong until it is well again';
        comment on column alerts.subject is 'what it is about: task:backup, watcher:dagster, check:distilled_notes/notes_grounded';
        create unique index alerts_open on alerts (kind, subject) where closed_at is null;
        create index alerts_opened on alerts (opened_at desc);

        create table deliveries (
            id bigint generated always as identity primary key,
            key text not null constraint deliveries_once unique,
            kind text not null constraint deliveries_kind check (
                kind in ('alert', 'recovery', 'reminder', 'digest', 'deliver', 'answer')),
            channel text not null,
            title text not null,
            body text not null,
            link text,
            alert_id bigint references alerts,
            task text,
            rid uuid,
            created_at timestamptz not null,
            status text not null default 'pending' constraint deliveries_status check (
                status in ('pending', 'sending', 'sent', 'folded', 'gave-up')),
            target text,
            attempts integer not null default 0,
            next_try_at timestamptz not null,
            leased_until timestamptz,
            leased_by text,
            parts_sent integer not null default 0,
            parts_total integer,
            message_ids jsonb not null default '[]',
            sent_at timestamptz,
            last_error text
        );
        comment on column deliveries.key is 'idempotency: the same key is one message for ever';
        comment on column deliveries.status is 'folded: too old when a target was first configured, told in one summary';
        comment on column deliveries.target is 'where it went, as telegram:chat/thread, webhook:host or ntfy:host/topic';
        create index deliveries_due on deliveries (next_try_at) where status in ('pending', 'sending');
        create index deliveries_created on deliveries (created_at desc);

        create table delivery_attempts (
            id bigint generated always as identity primary key,
            delivery_id bigint not null references deliveries,
            at timestamptz not null,
            part integer not null,
            outcome text not null constraint delivery_attempts_outcome check (
                outcome in ('sent', 'retry', 'plain-text', 'main-chat', 'refused', 'unknown')),
            status integer,
            error text,
            seconds real
        );
        create index delivery_attempts_of on delivery_attempts (delivery_id);
        create index delivery_attempts_at on delivery_attempts (at);

        create trigger alerts_kept before delete or truncate on alerts
            for each statement execute function argus_refuse_change('alerts are kept');
        create trigger deliveries_kept before delete or truncate on deliveries
            for each statement execute function argus_refuse_change('the outbox is kept');
        create trigger delivery_attempts_kept before update or delete or truncate on delivery_attempts
            for each statement execute function argus_refuse_change('the outbox is kept');
        """
    )
