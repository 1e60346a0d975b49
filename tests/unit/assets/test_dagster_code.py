"""What the webserver says of its code, read and judged without a webserver."""

from __future__ import annotations

from typing import Any

import pytest

from argus_memory.watch.dagster_code import REASON_MAX, CodeState, judge_code, read_workspace


def workspace(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"workspaceOrError": {"__typename": "Workspace", "locationEntries": list(entries)}}


def location(sensor: str = "RUNNING", schedule: str = "RUNNING", status: str = "LOADED") -> dict[str, Any]:
    repository = {
        "sensors": [{"name": "pending_memory", "sensorState": {"status": sensor}}],
        "schedules": [{"name": "housekeeping_daily", "scheduleState": {"status": schedule}}],
    }
    place = {"__typename": "RepositoryLocation", "repositories": [repository]}
    return {"name": "argus", "loadStatus": status, "locationOrLoadError": place}


def broken(message: str, cause: str | None = None) -> dict[str, Any]:
    error = {"__typename": "PythonError", "message": message, "cause": {"message": cause} if cause else None}
    return {"name": "argus", "loadStatus": "LOADED", "locationOrLoadError": error}


def test_a_loaded_location_whose_sensors_run_is_well() -> None:
    """Loaded and running: ok, with the location's name."""
    state = read_workspace(workspace(location()))
    assert state == CodeState(("argus",), (), {}, ())
    assert judge_code(state) == ("ok", "code location argus loaded")


def test_a_location_that_does_not_load_is_failed_with_its_first_line() -> None:
    """Though its status says LOADED: the cause's first line is shown, or only its class where that is asked."""
    state = read_workspace(workspace(broken("DagsterImportError: long\ntext", "ImportError: no plumbing\n  at x\n")))
    status, detail = judge_code(state)
    assert (status, detail) == ("failed", "no run can start, code location argus does not load (ImportError: no plumbing)")
    assert judge_code(state, errors=False)[1].endswith("argus does not load (ImportError)")


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("dagster._core.errors.SomeError: secret", "SomeError"),
        ("nothing like a class", "an error"),
        ("", "an error"),
    ],
)
def test_only_the_class_is_told_where_the_text_must_not(message: str, shown: str) -> None:
    """A qualified class loses its module; without a class none is invented, and no word of the text is told."""
    assert judge_code(read_workspace(workspace(broken(message))), errors=False)[1].endswith(f"({shown})")


def test_a_long_error_is_cut() -> None:
    """One line of a terminal or two, not a page."""
    failed = read_workspace(workspace(broken("x" * 5000))).failed
    assert failed is not None
    assert len(failed["argus"]) == REASON_MAX


@pytest.mark.parametrize("entry", [location(status="LOADING"), {**location(), "locationOrLoadError": None}])
def test_a_location_that_loads_is_not_yet_well(entry: dict[str, Any]) -> None:
    """Neither ok nor failed."""
    assert judge_code(read_workspace(workspace(entry))) == ("warn", "code location argus is still loading")


@pytest.mark.parametrize(
    ("entry", "name"),
    [(location(sensor="STOPPED"), "pending_memory"), (location(schedule="STOPPED"), "housekeeping_daily")],
)
def test_what_was_stopped_is_named(entry: dict[str, Any], name: str) -> None:
    """A sensor or schedule that somebody switched off is a warning with its name."""
    status, detail = judge_code(read_workspace(workspace(entry)))
    assert (status, name in detail) == ("warn", True)


def test_no_location_and_no_workspace_are_failed() -> None:
    """Nothing known to run is no state to be content with."""
    assert judge_code(read_workspace(workspace()))[0] == "failed"
    state = read_workspace({"workspaceOrError": {"__typename": "PythonError", "message": "OSError: no file"}})
    assert judge_code(state)[0] == "failed"
