"""The registry of projects and the keys that name them."""

from alembic import op

revision = "0012_projects"
down_revision = "0011_injections"


def upgrade() -> None:
    op.execute(
        r"""
        create table projects (
            id bigint generated always as identity primary key,
            name text not null constraint projects_name unique,
            created_at timestamptz not null default now(),
            first_method text not null
        );
        -- 'remote:…', 'dir:host:…' or 'cwd:…': worktrees share a key, two repositories of one name do not.
        create table project_keys (
            key text primary key,
            project_id bigint not null references projects,
            created_at timestamptz not null default now()
        );
        create index project_keys_project on project_keys (project_id);
        insert into projects (name, first_method) values ('global', 'explicit');
        """
    )
