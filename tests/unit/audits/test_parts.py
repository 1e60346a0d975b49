"""Small parts of audits and service levels: addresses, rules in words, judged levels."""

from __future__ import annotations

from dataclasses import replace

import pytest

from argus_memory.errors import SettingError
from argus_memory.settings import load_settings
from argus_memory.watch.audits import AUDITS
from argus_memory.watch.audits.columns import tables_by_asset
from argus_memory.watch.audits.run import check_url, look_command
from argus_memory.watch.audits.tables import judge
from argus_memory.watch.gx_rules import Among, Between, Never
from argus_memory.watch.gx_session import Broken, psycopg2_url
from argus_memory.watch.slo import SLOS, Measured, judge_level, thresholds_of

SETTINGS = load_settings({"ARGUS_HOME": "/nowhere"})


def test_the_driver_is_named_outright() -> None:
    """The address keeps its password and query, and names psycopg2."""
    assert psycopg2_url("postgresql://argus:p%40ss@h:5/db?sslmode=require") == (
        "postgresql+psycopg2://argus:p%40ss@h:5/db?sslmode=require"
    )


def test_columns_with_brackets_in_their_type() -> None:
    """A type with a comma in it is one column."""
    (cost,) = (column for column in tables_by_asset()["task_runs"]["task_runs"] if column.name == "cost_usd")
    assert (cost.type, cost.nullable) == ("numeric(14,6)", True)


def test_broken_rules_are_told_in_words() -> None:
    """Rows are named once though they break two rules, and each rule is named."""
    finding = judge(
        [
            Broken("notes", Between("confidence", 0, 1), ("1", "2"), 2),
            Broken("notes", Never("no content", "content = ''"), ("2",), 1),
            Broken("notes", Among("category", ("fact",)), ("3",), 1),
        ]
    )
    assert finding.offending == ("notes 1", "notes 2", "notes 3")
    assert finding.total == 4
    assert finding.detail == (
        "notes: not so: confidence is from 0 to 1; notes: no content; notes: not so: category is one of fact"
    )
    assert judge([]).status == "ok"


def test_where_a_person_looks_on() -> None:
    """Each audit has a page in Dagster and a command that psql takes as one argument."""
    audit = next(audit for audit in AUDITS if audit.name == "notes_grounded")
    assert check_url(SETTINGS, audit).endswith(":3000/assets/distilled_notes?view=checks&checkDetail=notes_grounded")
    assert look_command(audit).startswith('psql "$(argus dsn)" -c "select ')


def test_levels_hold_at_their_threshold() -> None:
    """A share that is to be high holds at or above its threshold, one that is to be low at or below it."""
    more, less = (next(slo for slo in SLOS if slo.better == better) for better in ("more", "less"))
    assert [judge_level(more, Measured(v, ""), 0.9) for v in (0.9, 0.89, None)] == ["ok", "failed", "unknown"]
    assert [judge_level(less, Measured(v, ""), 0.9) for v in (0.9, 0.91, None)] == ["ok", "failed", "unknown"]


def test_thresholds_of_a_person_stand_before_the_defaults() -> None:
    """ARGUS_SLO replaces the levels it names; a name it does not know is refused with those there are."""
    assert thresholds_of(replace(SETTINGS, slo={"zero-hits": 0.5}))["zero-hits"] == 0.5
    assert thresholds_of(SETTINGS)["capture-rate"] == 0.98
    with pytest.raises(SettingError, match="'zero' is no service level; accepted: one of capture-rate"):
        thresholds_of(replace(SETTINGS, slo={"zero": 0.5}))
