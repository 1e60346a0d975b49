"""Lists in an address: `?sort=`, `?after=` and filters, so that a link shows the same page again.

    VIEW = Listing("/ui/parked", sorts=(Sort("newest", …), Sort("project", …)), filters=("project", "class"))
    view = VIEW.read(request)          # raises UsageError on an unknown order or place
    page = find_parked(db, project=view["project"], wanted=view.wanted)     # a keyset.Slice
    return render(request, "parked.html", view=view, page=page)

Templates use `kit.heads(view, columns)`, `kit.counted`, `kit.nothing` and `kit.pager(view, page)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from fastapi import Request

from argus_memory.errors import UsageError
from argus_memory.rules.storable import storable
from argus_memory.upkeep.pages.keyset import PAGE_ROWS, Cursor, Sort, Wanted, parse_cursor

FILTER_MAX: Final = 400  # characters of a filter's value


@dataclass(frozen=True, slots=True)
class Order:
    """A column's head: where it leads, and how the list is sorted by it now."""

    path: str
    current: bool
    descending: bool


@dataclass(frozen=True, slots=True)
class View:
    """A list as it was asked for. `filters`: name → value, blank where it is not set."""

    path: str
    wanted: Wanted
    sorts: tuple[Sort, ...]
    filters: Mapping[str, str]
    after: str

    def __getitem__(self, name: str) -> str | None:
        """The value of a filter, None where it is not set."""
        return self.filters[name] or None

    @property
    def filtered(self) -> bool:
        return any(self.filters.values())

    @property
    def bare_path(self) -> str:
        """The list without filters, in the same order."""
        return self._path({}, self.wanted.sort)

    @property
    def first_path(self) -> str:
        return self._path(self.filters, self.wanted.sort)

    def path_after(self, cursor: Cursor) -> str:
        return self._path(self.filters, self.wanted.sort, cursor.text)

    def path_with(self, **changed: str) -> str:
        """The first page with some filters changed; blank takes one away."""
        return self._path({**self.filters, **changed}, self.wanted.sort)

    def order_of(self, name: str) -> Order | None:
        """The order of a column's name; None for a column that is not sorted by."""
        sort = next((one for one in self.sorts if one.name == name), None)
        if sort is None:
            return None
        return Order(self._path(self.filters, sort), sort is self.wanted.sort, sort.descending)

    def _path(self, filters: Mapping[str, str], sort: Sort, after: str = "") -> str:
        given = {name: value for name, value in filters.items() if value}
        if sort is not self.sorts[0]:
            given["sort"] = sort.name
        if after:
            given["after"] = after
        return f"{self.path}?{urlencode(given)}" if given else self.path


@dataclass(frozen=True, slots=True)
class Listing:
    """A kind of list: its orders, the first of which is the usual one, and its filters."""

    sorts: tuple[Sort, ...]
    filters: tuple[str, ...] = ()
    rows: int = PAGE_ROWS

    def read(self, request: Request) -> View:
        """The list the address asks for. Raises UsageError."""
        asked = request.query_params
        name = asked.get("sort", "")
        sort = next((one for one in self.sorts if one.name == name), None if name else self.sorts[0])
        if sort is None:
            names = ", ".join(one.name for one in self.sorts)
            raise UsageError(f"sort: {name[:60]!r} is no order of this list; they are {names}")
        filters = {one: storable(asked.get(one, "").strip()) for one in self.filters}
        if long := next((one for one, value in filters.items() if len(value) > FILTER_MAX), None):
            raise UsageError(f"{long}: has {len(filters[long])} characters, at most {FILTER_MAX} are taken")
        after = storable(asked.get("after", ""))
        cursor = parse_cursor(after, sort) if after else None
        return View(request.url.path, Wanted(sort, cursor, self.rows), self.sorts, filters, after)


def one_of(view: View, name: str, values: tuple[str, ...]) -> str | None:
    """A filter's value, one of `values`. Raises UsageError."""
    value = view[name]
    if value is not None and value not in values:
        raise UsageError(f"{name}: {value[:60]!r} is not one of {', '.join(values)}")
    return value


def options(values: Iterable[str]) -> list[tuple[str, str]]:
    """Values of a filter that are their own labels, as `kit.choice` takes them."""
    return [(value, value) for value in values]
