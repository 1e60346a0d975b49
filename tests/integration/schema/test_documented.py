"""docs/architecture.md lists every table and every column, in order."""

from __future__ import annotations

import re
from pathlib import Path

from argus_memory.db import Database

ARCHITECTURE = Path(__file__).parents[3] / "docs" / "architecture.md"


def test_every_table_and_column_is_listed(db: Database) -> None:
    """The listing in the documentation equals the migrated schema."""
    listed = {
        table: re.findall(r"`(\w+)`", columns)
        for table, columns in re.findall(
            r"^\*\*`(\w+)`\*\* — .*\n((?:`.*\n?)+)", ARCHITECTURE.read_text(), flags=re.MULTILINE
        )
    }
    rows = db.fetch_all(
        "select table_name, array_agg(column_name::text order by ordinal_position) as columns"
        " from information_schema.columns where table_schema = 'public' and table_name <> 'alembic_version'"
        " group by table_name"
    )
    assert listed == {row["table_name"]: row["columns"] for row in rows}
