"""Has every table the columns of the migrations, and does every row make sense? Asked by Great Expectations.

Two checks an asset: `schema` and `values`, over all tables that belong to it (tables.txt).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC

from argus_memory.db import LIVE_NOTE
from argus_memory.watch.audits.columns import Column, tables_by_asset
from argus_memory.watch.audits.questions import DETAILS, SHOWN, Asked, Audit, Finding
from argus_memory.watch.audits.table_values import VALUES
from argus_memory.watch.gx_rules import Never, Table
from argus_memory.watch.gx_session import Broken

# What differs between the columns that should be there and those that are; a row is named by both place and fault.
_COLUMNS = """
    select coalesce(w.place, t.place) as place,
           case when t.place is null then 'is missing'
                when w.place is null then 'is not of the migrations'
                when t.type <> w.type then 'is ' || t.type || ', not ' || w.type
                when t.nullable then 'may be null' else 'may not be null' end as fault
    from (values {wanted}) as w (place, type, nullable)
    full join (
        select c.relname || '.' || a.attname as place, format_type(a.atttypid, a.atttypmod) as type,
               not a.attnotnull as nullable
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
        join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        where c.relkind = 'r' and c.relname in ({tables})
    ) t on t.place = w.place
    where t.place is null or w.place is null or t.type <> w.type or t.nullable <> w.nullable
"""


def expect(*tables: Table) -> Callable[[Asked], Finding]:
    """An audit that fails when a rule of one of the tables does not hold for a row."""

    def ask(asked: Asked) -> Finding:
        now = f"timestamptz '{asked.now.astimezone(UTC).isoformat(sep=' ')}'"
        params = {"live_note": LIVE_NOTE.replace("%(now)s", now), "now": now}
        return judge(broken for table in tables for broken in asked.gx.broken(table, params))

    return ask


def judge(broken: Iterable[Broken]) -> Finding:
    """Rows are named with their table; one that breaks two rules counts twice, and each rule is named once."""
    ids, total, rules = [], 0, []
    for each in broken:
        ids += [f"{each.table} {id_}" for id_ in each.ids]
        total += each.total
        rules.append(
            f"{each.table}: not so: {each.rule.says}"
            if not isinstance(each.rule, Never)
            else f"{each.table}: {each.rule.says}"
        )
    if not rules:
        return Finding("ok")
    return Finding("failed", tuple(dict.fromkeys(ids))[:SHOWN], total, "; ".join(rules[:DETAILS]))


def columns_table(columns: Iterable[Column]) -> Table:
    """The columns that are not as they should be, as a query; columns are names of ours, nothing from outside."""
    columns = list(columns)
    wanted = ", ".join(f"('{c.table}.{c.name}', '{c.type}', {str(c.nullable).lower()})" for c in columns)
    tables = ", ".join(f"'{table}'" for table in dict.fromkeys(c.table for c in columns))
    query = _COLUMNS.replace("{wanted}", wanted).replace("{tables}", tables)
    return Table("column", (Never("not as the migrations make it", "true"),), key=("place", "fault"), query=query)


def table_audits() -> tuple[Audit, ...]:
    found: list[Audit] = []
    for asset, tables in tables_by_asset().items():
        names = ", ".join(tables)
        listed = ", ".join(repr(table) for table in tables)
        found.append(
            Audit("schema", asset, f"Are the columns of {names} as the migrations make them?", "error",
                  expect(columns_table(column for columns in tables.values() for column in columns)),
                  "select table_name, column_name, data_type, is_nullable from information_schema.columns"
                  f" where table_name in ({listed}) order by 1, ordinal_position"),
        )  # fmt: skip
        found.append(
            Audit("values", asset, f"Does every row of {names} make sense?", "error",
                  expect(*(VALUES[table] for table in tables)),
                  " union all ".join(f"select '{table}', count(*) from {table}" for table in tables)),
        )  # fmt: skip
    return tuple(found)
