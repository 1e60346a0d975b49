"""Rules about the rows of one table, as data; each knows the expectation it is in Great Expectations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


class Rule(Protocol):
    """`says`: the rule in words."""

    @property
    def says(self) -> str: ...

    def expectation(self, gx: Any, key: Sequence[str], params: Mapping[str, str], place: str) -> Any:
        """As an expectation of the module `gx`; `place` comes back in the result's meta."""


@dataclass(frozen=True, slots=True)
class Between:
    """Where the column is set, it lies between these, both included."""

    column: str
    low: float | None = None
    high: float | None = None

    @property
    def says(self) -> str:
        if self.high is None:
            return f"{self.column} is at least {self.low:g}"
        return f"{self.column} is from {self.low:g} to {self.high:g}"

    def expectation(self, gx: Any, _key: Sequence[str], _params: Mapping[str, str], place: str) -> Any:
        return gx.expectations.ExpectColumnValuesToBeBetween(
            column=self.column, min_value=self.low, max_value=self.high, meta={"place": place}
        )


@dataclass(frozen=True, slots=True)
class Among:
    """Where the column is set, it is one of these."""

    column: str
    values: tuple[str, ...]

    @property
    def says(self) -> str:
        return f"{self.column} is one of {', '.join(self.values)}"

    def expectation(self, gx: Any, _key: Sequence[str], _params: Mapping[str, str], place: str) -> Any:
        return gx.expectations.ExpectColumnValuesToBeInSet(
            column=self.column, value_set=list(self.values), meta={"place": place}
        )


@dataclass(frozen=True, slots=True)
class Matches:
    """Where the column is set, this regular expression is found in it."""

    column: str
    pattern: str

    @property
    def says(self) -> str:
        return f"{self.column} matches {self.pattern}"

    def expectation(self, gx: Any, _key: Sequence[str], _params: Mapping[str, str], place: str) -> Any:
        return gx.expectations.ExpectColumnValuesToMatchRegex(
            column=self.column, regex=self.pattern, meta={"place": place}
        )


@dataclass(frozen=True, slots=True)
class Unique:
    """Where the column is set, no two rows have the same."""

    column: str

    @property
    def says(self) -> str:
        return f"{self.column} stands once"

    def expectation(self, gx: Any, _key: Sequence[str], _params: Mapping[str, str], place: str) -> Any:
        return gx.expectations.ExpectColumnValuesToBeUnique(column=self.column, meta={"place": place})


@dataclass(frozen=True, slots=True)
class Filled:
    """The column is set in every row."""

    column: str

    @property
    def says(self) -> str:
        return f"{self.column} is set"

    def expectation(self, gx: Any, _key: Sequence[str], _params: Mapping[str, str], place: str) -> Any:
        return gx.expectations.ExpectColumnValuesToNotBeNull(column=self.column, meta={"place": place})


@dataclass(frozen=True, slots=True)
class Never:
    """No row is like this. `where`: an SQL condition on the table's columns."""

    problem: str
    where: str

    @property
    def says(self) -> str:
        return self.problem

    def expectation(self, gx: Any, key: Sequence[str], params: Mapping[str, str], place: str) -> Any:
        where = self.where
        for name, value in params.items():
            where = where.replace("{" + name + "}", value)
        columns = ", ".join(key)
        return gx.expectations.UnexpectedRowsExpectation(
            unexpected_rows_query=f"select {columns} from {{batch}} where {where} order by {columns}",
            meta={"place": place},
        )


@dataclass(frozen=True, slots=True)
class Table:
    """A table, or a query, with the rules for its rows. key: the columns that name a row."""

    name: str
    rules: tuple[Rule, ...] = ()
    key: tuple[str, ...] = ("id",)
    query: str | None = None
