"""Great Expectations as the audits use it: one ephemeral context on our Postgres, imported when first asked.

Importing it takes 3 to 6 seconds and 190 MB, so this happens once in a run of `audit_memory` and nowhere else.
It keeps no files, shows no bars, and sends nothing anywhere.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from argus_memory.watch.gx_rules import Never, Rule, Table

IDS_KEPT = 50  # of the rows that break one rule


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule that does not hold. ids: at most IDS_KEPT of the rows; total: how many rows break it."""

    table: str
    rule: Rule
    ids: tuple[str, ...]
    total: int


class GxSession:
    """Use `broken` for each table, `close` at the end."""

    def __init__(self, dsn: str) -> None:
        # Before the import: it reads this once. No client for analytics is installed either.
        os.environ["GX_ANALYTICS_ENABLED"] = "false"
        import great_expectations as gx

        logging.getLogger("great_expectations").setLevel(logging.ERROR)
        self._gx = gx
        context = gx.get_context(mode="ephemeral")
        context.variables.progress_bars = {"globally": False}
        self._source = context.data_sources.add_postgres("argus", connection_string=psycopg2_url(dsn))

    def close(self) -> None:
        """Give its connections back."""
        self._source.get_execution_engine().engine.dispose()

    def broken(self, table: Table, params: Mapping[str, str]) -> list[Broken]:
        """The table's rules that do not hold; `params` stand in its query and rules as {name}.

        Raises RuntimeError with the database's reason when a rule cannot be asked.
        """
        if not table.rules:
            return []
        name = f"{table.name} {len(self._source.assets)}"
        if table.query is None:
            asset = self._source.add_table_asset(name, table_name=table.name)
        else:
            asset = self._source.add_query_asset(name, query=_fill(table.query, params))
        batch = asset.add_batch_definition_whole_table("all").get_batch()
        found = [
            *self._validate(batch, table, params, "COMPLETE", [r for r in table.rules if isinstance(r, Never)]),
            *self._validate(batch, table, params, "SUMMARY", [r for r in table.rules if not isinstance(r, Never)]),
        ]
        return sorted(found, key=lambda each: table.rules.index(each.rule))

    def _validate(
        self, batch: Any, table: Table, params: Mapping[str, str], form: str, rules: Sequence[Rule]
    ) -> list[Broken]:
        """`form`: only COMPLETE names the rows of a query, at most 200; of a column it would fetch every value."""
        if not rules:
            return []
        expectations = [rule.expectation(self._gx, table.key, params, str(place)) for place, rule in enumerate(rules)]
        results = batch.validate(
            self._gx.ExpectationSuite(name=f"{table.name} {form}", expectations=expectations),
            result_format={
                "result_format": form,
                "unexpected_index_column_names": list(table.key),
                "partial_unexpected_count": IDS_KEPT,
            },
        ).results
        found = []
        for result in results:
            rule = rules[int(result.expectation_config.meta["place"])]
            if raised := _raised(result.exception_info):
                raise RuntimeError(f"{table.name}: {rule.says}: {raised}")
            if not result.success:
                found.append(_broken(table, rule, result.result))
        return found


def psycopg2_url(dsn: str) -> str:
    """The same address with psycopg2 named outright: SQLAlchemy 2.1 reads a bare postgresql:// as psycopg 3."""
    parts = urlsplit(dsn)
    return urlunsplit(("postgresql+psycopg2", parts.netloc, parts.path, parts.query, parts.fragment))


def _broken(table: Table, rule: Rule, result: Mapping[str, Any]) -> Broken:
    if "details" in result:  # a query of unexpected rows
        rows: Sequence[Mapping[str, Any]] = result["details"].get("unexpected_rows", [])
        total = int(result["observed_value"])
    else:
        rows = result.get("partial_unexpected_index_list") or []
        total = int(result.get("unexpected_count", len(rows)))
    ids = tuple(":".join(str(row[column]) for column in table.key) for row in rows[:IDS_KEPT])
    return Broken(table.name, rule, ids, total)


def _raised(info: Mapping[str, Any] | None) -> str | None:
    """The reason of a rule that could not be asked; Great Expectations keeps it flat or by metric."""
    entries = [info, *info.values()] if info else []
    for entry in entries:
        if isinstance(entry, Mapping) and entry.get("raised_exception"):
            lines = str(entry.get("exception_message") or "no reason given").strip().splitlines()
            return lines[0]
    return None


def _fill(text: str, params: Mapping[str, str]) -> str:
    for name, value in params.items():
        text = text.replace("{" + name + "}", value)
    return text
