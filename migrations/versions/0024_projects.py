"""Where an episode was filed and by whom, and which rows a rename or merge of projects moved."""

from alembic import op

revision = "0024_projects"
down_revision = "0023_memory_health"


def upgrade() -> None:
    op.execute(
        r"""
        create table project_attributions (
            episode_id bigint primary key references episodes,
            project text,
            method text not null constraint project_attributions_method check (
                method in ('classified', 'unclear', 'assigned', 'kept')),
            similarity real,
            margin real,
            space_id bigint references embedding_spaces,
            at timestamptz not null,
            actor text not null
        );
        comment on column project_attributions.method is 'classified or unclear by the machine; assigned or kept by a person, which no machine changes';

        create table project_moves (
            change_id bigint not null references project_changes,
            kind text not null constraint project_moves_kind check (kind in ('turn', 'episode', 'note', 'decision', 'proposal', 'item', 'key', 'alias')),
            row_id bigint,
            name text,
            was text
        );
        comment on table project_moves is 'what a merge moved, row by row, so that it can be taken back whole';
        create index project_moves_change on project_moves (change_id, kind);
        create unique index project_changes_undone on project_changes ((detail ->> 'change')) where change = 'undone';
        create index episodes_unfiled on episodes (id) where project is null and replaced_at is null;
        create trigger project_moves_kept before update or delete or truncate on project_moves
            for each statement execute function argus_refuse_change('audit rows are kept');
        """
    )
