"""Functions that refuse changes, and the settings a store is built with."""

from alembic import op

revision = "0001_guards"
down_revision = None


def upgrade() -> None:
    op.execute(
        r"""
        create extension if not exists vector;

        create function argus_refuse_change() returns trigger language plpgsql as $$
        begin
            raise exception '% on % is refused: %', tg_op, tg_table_name, tg_argv[0]
                using errcode = 'AR001';
        end $$;

        -- Settings that stored data depends on (they cannot change with an environment variable alone).
        create table store_settings (
            key text primary key,
            value text not null,
            changed_at timestamptz not null default now()
        );
        insert into store_settings (key, value) values ('text_search', 'english');
        """
    )
