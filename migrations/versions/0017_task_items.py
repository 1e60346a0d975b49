"""To-dos noticed in memory, and the evidence that moves them."""

from alembic import op

revision = "0017_task_items"
down_revision = "0016_engines"


def upgrade() -> None:
    op.execute(
        r"""
        create table task_items (
            id bigint generated always as identity primary key,
            uid text not null unique,
            text text not null,
            project text,
            status text not null default 'open' constraint task_items_status check (
                status in ('open', 'claimed-done', 'verified', 'stale', 'dropped')),
            due_on date,
            note_id bigint references distilled_notes,
            raw_id bigint references raw_items,
            source_ref text not null,
            said_at timestamptz not null,
            noticed_at timestamptz not null,
            status_at timestamptz not null,
            model text not null
        );
        comment on column task_items.uid is 'from the normalised text and the project: the same to-do is one row';
        comment on column task_items.source_ref is 'the words of the raw item that name it';
        create index task_items_status on task_items (status, said_at desc);
        create index task_items_raw on task_items (raw_id);

        create table task_events (
            id bigint generated always as identity primary key,
            item_id bigint not null references task_items,
            at timestamptz not null,
            from_status text,
            to_status text not null,
            evidence text not null constraint task_events_evidence check (
                evidence in ('note', 'turn', 'document', 'run', 'commit', 'person', 'time')),
            evidence_id text,
            source text,
            quote text,
            method text not null constraint task_events_method check (method in ('cue', 'model', 'person', 'time')),
            score real
        );
        comment on column task_events.source is 'what two signs must differ in to count twice: a session, document, run or commit';
        create index task_events_item on task_events (item_id, id);
        create index task_events_at on task_events (at desc);

        -- Up to where each source was read for to-dos and for evidence.
        create table task_item_reads (
            source text primary key,
            read_to bigint not null,
            at timestamptz not null
        );

        create trigger task_items_kept before delete or truncate on task_items
            for each statement execute function argus_refuse_change('what was noticed is kept');
        create trigger task_events_kept before update or delete or truncate on task_events
            for each statement execute function argus_refuse_change('audit rows are kept');
        """
    )
