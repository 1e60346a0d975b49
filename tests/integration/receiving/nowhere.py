"""Looking for words everywhere a database can keep them."""

from __future__ import annotations

from pathlib import Path

import psycopg
from psycopg import sql

COLUMNS = """
    select s.nspname, c.relname, a.attname
    from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace s on s.oid = c.relnamespace
    where s.nspname in ('public', 'dagster') and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
      and a.atttypid not in ('bigint'::regtype, 'integer'::regtype, 'boolean'::regtype, 'timestamptz'::regtype)
    order by 1, 2, 3"""
STATISTICS = """
    select schemaname || '.' || tablename || '.' || attname as place from pg_stats
    where most_common_vals::text ilike %(like)s or histogram_bounds::text ilike %(like)s
       or most_common_elems::text ilike %(like)s"""


def find_in_columns(dsn: str, words: str) -> list[str]:
    """"schema.table.column" of every value that holds the words, whatever its type; the planner's samples too."""
    found = []
    with psycopg.connect(dsn) as conn:
        for schema, table, column in conn.execute(COLUMNS).fetchall():
            query = sql.SQL("select count(*) from {} where {}::text ilike %s").format(
                sql.Identifier(schema, table), sql.Identifier(column)
            )
            row = conn.execute(query, (f"%{words}%",)).fetchone()
            if row and row[0]:
                found.append(f"{schema}.{table}.{column}")
        found += [f"statistics of {row[0]}" for row in conn.execute(STATISTICS, {"like": f"%{words}%"})]
    return found


def find_in_files(admin_dsn: str, data: Path, words: str) -> list[str]:
    """Relations (tables, indexes, the catalogue, TOAST) whose files hold the words, in live, dead or free space."""
    found = []
    needles = [words.encode(), words.lower().encode()]
    with psycopg.connect(admin_dsn, autocommit=True) as conn:
        conn.execute("checkpoint")
        paths = conn.execute(
            "select oid::regclass::text, pg_relation_filepath(oid) from pg_class"
            " where relkind in ('r', 'i', 't', 'm', 'S') and pg_relation_filepath(oid) is not null"
        ).fetchall()
    for relation, path in paths:
        content = (data / path).read_bytes()
        if any(needle in content for needle in needles):
            found.append(relation)
    return found
