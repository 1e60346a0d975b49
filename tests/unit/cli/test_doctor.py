"""What `argus doctor` makes of what it finds."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from argus_cli import doctor_hub, doctor_machine
from argus_cli.doctor_command import judge_hooks
from argus_cli.findings import Finding, as_json, as_text, collect, exit_code
from argus_memory.settings import load_settings

GIB = 1024**3


def broken() -> list[Finding]:
    raise OSError("disk gone")


def test_a_check_that_breaks_does_not_silence_the_others() -> None:
    """It becomes a finding of its own, and the next check is still asked."""
    findings = collect([("disk", broken), ("clock", lambda: [Finding("clock", "ok", "12:00")])])
    assert [(f.name, f.status) for f in findings] == [("disk", "unknown"), ("clock", "ok")]
    assert "disk gone" in findings[0].detail


@pytest.mark.parametrize(
    ("statuses", "code"),
    [(["ok"], 0), (["ok", "unknown"], 0), (["ok", "warn"], 1), (["warn", "failed", "ok"], 3)],
)
def test_the_worst_finding_decides_the_exit_code(statuses: list[str], code: int) -> None:
    """A failure is 3, a warning 1; a hub that does not run is no alarm."""
    assert exit_code([Finding("x", status, "") for status in statuses]) == code


def test_the_cure_is_shown_where_something_is_wrong() -> None:
    """An ok line stays short; a warning carries what to do."""
    assert "→" not in as_text(Finding("disk", "ok", "9 GiB", "make room"))
    assert "→ make room" in as_text(Finding("disk", "warn", "1 GiB", "make room"))
    assert as_json([Finding("disk", "warn", "1 GiB", "make room")])["findings"][0]["cure"] == "make room"


@pytest.mark.parametrize(("free", "status"), [(10 * GIB, "ok"), (GIB, "warn"), (GIB // 10, "failed")])
def test_disk(free: int, status: str) -> None:
    """Below 2 GiB a warning, below 200 MiB a failure."""
    assert doctor_machine.judge_disk("disk", Path("/x"), free).status == status


@pytest.mark.parametrize(
    ("days", "status"), [(None, "warn"), (30, "warn"), (365, "ok"), (99999, "ok"), ("9", "warn")]
)
def test_the_sweep_of_transcripts(days: object, status: str) -> None:
    """Claude Code's default of 30 days, and anything under a year, is worth a word."""
    assert doctor_machine.judge_sweep(days, Path("/c")).status == status


def test_pins_are_read_by_their_normal_names() -> None:
    """Underscores and capitals do not matter; comments do not count."""
    assert doctor_machine.read_pins("# x==1\nSQLAlchemy==2.1.9\nlxml_html_clean==0.4\n\n") == {
        "sqlalchemy": "2.1.9",
        "lxml-html-clean": "0.4",
    }


def test_open_secrets_are_a_failure_with_the_command_to_close_them(tmp_path: Path) -> None:
    """An env file that others can read is named together with its chmod."""
    (tmp_path / "env").write_text("ARGUS_MCP_TOKEN=0123456789abcdef\n")
    (tmp_path / "env").chmod(0o644)
    findings = {f.name: f for f in doctor_machine.check_files(load_settings({"ARGUS_HOME": str(tmp_path)}))}
    assert findings["file modes"].status == "failed"
    assert findings["file modes"].cure == f"chmod 600 {tmp_path / 'env'}"
    assert findings["tokens"].status == "warn"
    (tmp_path / "env").chmod(0o600)
    findings = {f.name: f for f in doctor_machine.check_files(load_settings({"ARGUS_HOME": str(tmp_path)}))}
    assert findings["file modes"].status == "ok"


@pytest.mark.parametrize(
    ("finding", "status"),
    [
        (doctor_hub.judge_role("argus", superuser=False), "ok"),
        (doctor_hub.judge_role("postgres", superuser=True), "warn"),
        (doctor_hub.judge_fsync("off"), "failed"),
        (doctor_hub.judge_vector(None), "failed"),
        (doctor_hub.judge_vector("0.8.5"), "ok"),
        (doctor_hub.judge_skew(-7.0), "warn"),
        (doctor_hub.judge_skew(0.2), "ok"),
        (doctor_hub.judge_revision("0001", "0002"), "failed"),
        (doctor_hub.judge_revision("0002", "0002"), "ok"),
    ],
)
def test_the_database_is_judged(finding: Finding, status: str) -> None:
    """Each fact about the database has one verdict."""
    assert finding.status == status


def test_the_canary_is_one_row_a_day_and_marked() -> None:
    """The same day gives the same body (a duplicate), the next another; source and project mark it."""
    morning, evening = datetime(2026, 5, 1, 6, tzinfo=UTC), datetime(2026, 5, 1, 22, tzinfo=UTC)
    assert doctor_hub.canary(doctor_hub.canary_word(morning)) == doctor_hub.canary(doctor_hub.canary_word(evening))
    assert doctor_hub.canary_word(datetime(2026, 5, 2, tzinfo=UTC)) != doctor_hub.canary_word(morning)
    item = doctor_hub.canary("canary1")
    assert (item["source"], item["project"]) == ("argus", "argus-canary")


@pytest.mark.parametrize(
    ("state", "any_wired", "status"),
    [
        ("wired", True, "ok"),
        ("stale", True, "warn"),
        ("missing", True, "unknown"),
        ("missing", False, "warn"),
        ("off", True, "warn"),
    ],
)
def test_hooks_are_judged(state: str, any_wired: bool, status: str) -> None:
    """A target that was never wanted is nothing to look at while the other is wired."""
    assert judge_hooks(state, any_wired) == status
