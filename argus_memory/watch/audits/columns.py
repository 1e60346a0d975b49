"""The tables as the migrations make them, and the asset each belongs to: read from tables.txt.

A column is written `name type`, with `?` behind where it may be null. A test holds the file against a freshly
migrated database; `python -m argus_memory.watch.audits.columns DSN` prints the lines of that one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from argus_memory.db import Database, queries

# Not at commas in brackets: numeric(14,6).
_BETWEEN = re.compile(r", (?![^()]*\))")


@dataclass(frozen=True, slots=True)
class Column:
    table: str
    name: str
    type: str
    nullable: bool

    def __str__(self) -> str:
        return f"{self.name} {self.type}{'?' if self.nullable else ''}"


@cache
def tables_by_asset() -> Mapping[str, Mapping[str, tuple[Column, ...]]]:
    """Asset → table → its columns in order."""
    text = (resources.files("argus_memory") / "watch" / "audits" / "tables.txt").read_text("utf-8")
    found: dict[str, dict[str, tuple[Column, ...]]] = {}
    asset = ""
    for line in text.splitlines():
        if line.startswith("["):
            asset = line.strip("[]")
            found[asset] = {}
        elif line:
            table, _, columns = line.partition(": ")
            found[asset][table] = tuple(_read(table, column) for column in _BETWEEN.split(columns))
    return found


def describe(db: Database) -> list[Column]:
    """The columns there are in the schema `public`."""
    return [Column(**row) for row in db.fetch_all(queries("audits").columns)]


def as_lines(columns: Iterable[Column]) -> list[str]:
    tables: dict[str, list[str]] = {}
    for column in columns:
        tables.setdefault(column.table, []).append(str(column))
    return [f"{table}: {', '.join(names)}" for table, names in sorted(tables.items())]


def _read(table: str, text: str) -> Column:
    name, _, type_ = text.partition(" ")
    return Column(table, name, type_.removesuffix("?"), type_.endswith("?"))


if __name__ == "__main__":
    with Database(sys.argv[1]) as database:
        sys.stdout.write("\n".join(as_lines(describe(database))) + "\n")
