"""Lists paged by key: rows after (sort key, id), never by number, so that page 1,000 costs what page 1 does.

A query of sql/pages_*.sql has three places: `{key}` in its columns as `sort_key`, `{after}` among its conditions,
`{order}` behind `order by`; its `limit %(limit)s` gets one row more than is shown, which tells of a next page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Generic, Literal, LiteralString, TypeVar

from psycopg.rows import DictRow

from argus_memory.db import Connection
from argus_memory.errors import UsageError

PAGE_ROWS: Final = 50
KEY_MAX: Final = 500  # characters of a text that is sorted by
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sort:
    """An order of a list. `key` is an SQL expression that is never null, of the type `kind` says."""

    name: str
    label: str
    key: LiteralString
    kind: Literal["time", "number", "text"] = "time"
    descending: bool = True
    id: LiteralString = "s.id"


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last row of the page before."""

    key: datetime | float | str
    id: int

    @property
    def text(self) -> str:
        """As it stands in an address."""
        if isinstance(self.key, datetime):
            return f"{self.key.astimezone(UTC).strftime('%Y-%m-%dT%H:%M:%S.%f')}Z~{self.id}"
        return f"{self.key if isinstance(self.key, str) else repr(self.key)}~{self.id}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A page of a list: its order, where it begins, how many rows it has."""

    sort: Sort
    after: Cursor | None = None
    rows: int = PAGE_ROWS


@dataclass(frozen=True, slots=True)
class Slice(Generic[T]):
    """A page. `total` counts all rows of the list; `next` None: this is the last page."""

    rows: Sequence[T]
    total: int
    next: Cursor | None = None


def parse_cursor(text: str, sort: Sort) -> Cursor:
    """Raises UsageError on what `Cursor.text` did not write for this order."""
    key, mark, id_ = text.rpartition("~")
    try:
        if not mark:
            raise ValueError
        number = int(id_)
        if not -(2**63) <= number < 2**63 or len(key) > KEY_MAX:
            raise ValueError
        if sort.kind == "time":
            at = datetime.fromisoformat(key)
            return Cursor(at.replace(tzinfo=at.tzinfo or UTC), number)
        if sort.kind == "number":
            value = float(key)
            if value != value:  # not a number sorts nowhere
                raise ValueError
            return Cursor(value, number)
        return Cursor(key, number)
    except ValueError:
        raise UsageError(f"after: {text[:60]!r} is no place in this list; begin at its first page") from None


def fetch_page(
    conn: Connection,
    query: LiteralString,
    count: LiteralString,
    params: Mapping[str, Any],
    wanted: Wanted,
) -> Slice[DictRow]:
    """The page, by two queries: its rows, and how many the whole list has (a column `total`)."""
    rows = conn.execute(compose(query, wanted), page_params(params, wanted), prepare=False).fetchall()
    counted = conn.execute(count, params, prepare=False).fetchone()
    assert counted is not None
    return cut(rows, counted["total"], wanted)


def compose(query: LiteralString, wanted: Wanted) -> LiteralString:
    """The query with its three places filled in."""
    sort = wanted.sort
    kinds: Mapping[str, LiteralString] = {"time": "timestamptz", "number": "float8", "text": "text"}
    cast = kinds[sort.kind]
    compare: LiteralString = "<" if sort.descending else ">"
    word: LiteralString = "desc" if sort.descending else "asc"
    after: LiteralString = "true"
    if wanted.after is not None:
        after = f"({sort.key}, {sort.id}) {compare} (%(after_key)s::{cast}, %(after_id)s::bigint)"
    order: LiteralString = f"{sort.key} {word}, {sort.id} {word}"
    return query.replace("{key}", sort.key).replace("{after}", after).replace("{order}", order)


def page_params(params: Mapping[str, Any], wanted: Wanted) -> dict[str, Any]:
    place = {"after_key": wanted.after.key, "after_id": wanted.after.id} if wanted.after else {}
    return {**params, **place, "limit": wanted.rows + 1}


def cut(rows: Sequence[DictRow], total: int, wanted: Wanted) -> Slice[DictRow]:
    """The rows of the page, without the one too many."""
    shown = rows[: wanted.rows]
    more = len(rows) > wanted.rows
    return Slice(shown, total, Cursor(shown[-1]["sort_key"], shown[-1]["id"]) if more else None)
