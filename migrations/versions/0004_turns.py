"""What changes about a turn, and what search needs of it, beside its immutable row."""

from alembic import op

revision = "0004_turns"
down_revision = "0003_text_search"


def upgrade() -> None:
    op.execute(
        r"""
        create table episodes (
            id bigint generated always as identity primary key,
            session text not null,
            source text not null,
            project text,
            project_method text,
            project_confidence real,
            cwd text,
            first_raw_id bigint not null references raw_items,
            last_raw_id bigint not null references raw_items,
            turn_count integer not null,
            block_count integer not null,
            started_at timestamptz not null,
            ended_at timestamptz not null,
            day date generated always as ((started_at at time zone 'UTC')::date) stored,
            boundary_reason text not null constraint episodes_boundary_reason check (
                boundary_reason in ('size-cap', 'time-gap', 'topic-shift', 'idle', 'session-end', 'next-session')),
            boundary_score real,
            -- md5 over the raw ids in order: the same raw items give the same episode
            content_key text not null,
            closed_at timestamptz not null default now(),
            distilled_at timestamptz,
            replaced_at timestamptz,
            replaced_reason text
        );
        comment on table episodes is 'closed spans of turns; replaced_at marks one that a late turn reopened';
        create unique index episodes_content on episodes (content_key) where replaced_at is null;
        create index episodes_session on episodes (session, started_at) where replaced_at is null;
        create index episodes_day on episodes (day) where replaced_at is null;

        create table turns (
            raw_id bigint primary key references raw_items,
            source text not null,
            session text not null,
            project text,
            role text not null,
            -- who spoke, where a turn names someone: metadata.speaker, or the "Name: " it begins with
            speaker text,
            asks boolean not null default false,
            message_id text,
            said_at timestamptz not null,
            position bigint not null,
            chars integer not null,
            tsv tsvector not null,
            tsv_length integer not null,
            episode_id bigint references episodes,
            ordinal integer
        );
        comment on table turns is 'side table of raw items of kind turn: search terms, and the episode they fell into';
        create index turns_tsv on turns using gin (tsv);
        create index turns_session on turns (session, said_at, position, raw_id);
        -- Small however much is stored: only tails are in it. The health probe's turns never fall into an episode.
        create index turns_pending on turns (session, said_at, position, raw_id)
            where episode_id is null and project is distinct from 'argus-canary';
        create index turns_episode on turns (episode_id, ordinal) where episode_id is not null;
        create index turns_project on turns (project, said_at desc);
        -- Does a question name someone who speaks here?
        create index turns_speaker on turns (lower(split_part(speaker, ' ', 1))) where speaker is not null;

        -- Every turn leaves its tail once; what it leaves behind in the indexes is taken away soon after an import.
        alter table turns set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

        create table distill_state (
            unit_kind text not null constraint distill_state_unit_kind check (unit_kind in ('episode', 'item')),
            unit_id bigint not null,
            status text not null default 'pending' constraint distill_state_status check (
                status in ('pending', 'done', 'parked', 'skipped')),
            project text,
            said_at timestamptz not null,
            queued_at timestamptz not null default now(),
            content_failures integer not null default 0,
            attempts integer not null default 0,
            last_error_class text,
            last_error text,
            next_attempt_at timestamptz,
            claimed_at timestamptz,
            claimed_by text,
            model text,
            model_real text,
            notes_created integer,
            notes_rejected integer,
            distilled_at timestamptz,
            primary key (unit_kind, unit_id)
        );
        create index distill_state_pending on distill_state (said_at desc) where status = 'pending';
        create index distill_state_parked on distill_state (unit_kind, unit_id) where status = 'parked';

        create table embedding_spaces (
            id integer generated always as identity primary key,
            model text not null,
            dim integer not null,
            checksum text not null,
            status text not null default 'building' constraint embedding_spaces_status check (
                status in ('building', 'active', 'retired')),
            -- every threshold on a cosine belongs to its space: name → value, and how each was calibrated
            thresholds jsonb not null,
            calibration jsonb not null,
            created_at timestamptz not null default now(),
            activated_at timestamptz,
            constraint embedding_spaces_identity unique (model, dim, checksum),
            constraint embedding_spaces_dim unique (id, dim)
        );
        create unique index embedding_spaces_one_active on embedding_spaces ((true)) where status = 'active';

        -- What still has to be embedded, for every space that is live or being built.
        create table embed_queue (
            space_id integer not null references embedding_spaces,
            target text not null constraint embed_queue_target check (target in ('turn', 'note')),
            target_id bigint not null,
            queued_at timestamptz not null default now(),
            attempts integer not null default 0,
            last_error text,
            primary key (space_id, target, target_id)
        );

        -- "Caroline: …" is spoken by Caroline; at most three words that begin with a capital.
        create function argus_speaker(metadata jsonb, body text) returns text language sql immutable parallel safe as $$
            select coalesce(
                nullif(metadata ->> 'speaker', ''),
                substring(left(body, 80) from '^([[:upper:]][[:alnum:]''.-]*(?: [[:upper:]][[:alnum:]''.-]*){0,2}): '))
        $$;

        create function argus_after_capture() returns trigger language plpgsql as $$
        begin
            -- What comes without a session is one conversation by source and project.
            insert into turns (raw_id, source, session, project, role, speaker, asks, message_id, said_at, position, chars, tsv, tsv_length)
            select r.id, r.source, coalesce(nullif(r.session, ''), r.source || ':' || coalesce(r.project, '')), r.project, coalesce(r.metadata ->> 'role', 'user'),
                   argus_speaker(r.metadata, r.body), right(rtrim(r.body, E' \n\t'), 1) in ('?', '？', '؟'),
                   r.metadata ->> 'message_id', r.said_at, r.position, length(r.body), t.tsv, length(t.tsv)
            -- "offset 0" keeps the terms from being made twice, once for each use: half of a bulk capture's time.
            from captured r cross join lateral (select argus_tsvector(r.body) as tsv offset 0) t
            where r.kind = 'turn';

            insert into embed_queue (space_id, target, target_id)
            select s.id, 'turn', r.id from captured r cross join embedding_spaces s
            where r.kind = 'turn' and s.status <> 'retired';

            insert into distill_state (unit_kind, unit_id, project, said_at)
            select 'item', r.id, r.project, r.said_at from captured r
            where r.kind <> 'turn' and r.project is distinct from 'argus-canary';
            return null;
        end $$;
        create trigger raw_items_captured after insert on raw_items
            referencing new table as captured for each statement execute function argus_after_capture();

        create trigger episodes_kept before delete or truncate on episodes
            for each statement execute function argus_refuse_change('episodes are only marked as replaced');
        create trigger turns_kept before delete or truncate on turns
            for each statement execute function argus_refuse_change('every turn keeps its row');
        """
    )
