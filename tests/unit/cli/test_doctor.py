"""What `argus doctor` makes of what it finds."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from argus_cli import doctor_around, doctor_client, doctor_hub, doctor_machine, doctor_transcripts
from argus_cli.doctor_command import judge_hooks
from argus_cli.findings import Finding, as_json, as_text, collect, count_words, exit_code
from argus_memory.settings import load_settings
from tests.stubs.telegram_server import TelegramServer

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
    [(["ok"], 0), (["ok", "unknown"], 0), (["ok", "warn"], 0), (["warn", "failed", "ok"], 1)],
)
def test_the_worst_finding_decides_the_exit_code(statuses: list[str], code: int) -> None:
    """A failure is 1; hints and a hub that does not run are no alarm."""
    assert exit_code([Finding("x", status, "") for status in statuses]) == code


def test_what_cannot_be_reached_is_3() -> None:
    """A port that is taken or a hub that does not answer stands before what is merely wrong."""
    assert exit_code([Finding("x", "failed", ""), Finding("port", "failed", "", away=True)]) == 3
    assert exit_code([Finding("port", "ok", "", away=True)]) == 0


def test_the_last_line_counts() -> None:
    """What is to mend, hints, and what could not be told; without the first two all is well."""
    ok, hint, bad, dark = (Finding("x", status, "") for status in ("ok", "warn", "failed", "unknown"))
    assert count_words([ok]) == "all well"
    assert count_words([ok, dark]) == "all well, 1 could not be told"
    assert count_words([bad, hint, hint, dark]) == "1 to mend, 2 hints, 1 could not be told"
    assert count_words([hint]) == "1 hint"
    assert as_json([hint])["status"] == "ok"
    assert (as_json([bad, hint])["status"], as_json([bad, hint])["hints"]) == ("failed", 1)


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
    assert doctor_transcripts.judge_sweep(days, Path("/c")).status == status


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
        (doctor_hub.judge_skew(-7.0, "the API"), "warn"),
        (doctor_hub.judge_skew(0.2, "the API"), "ok"),
        (doctor_hub.judge_skew(3600, "the API"), "failed"),
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
    assert doctor_client.canary(doctor_client.canary_word(morning)) == doctor_client.canary(
        doctor_client.canary_word(evening)
    )
    assert doctor_client.canary_word(datetime(2026, 5, 2, tzinfo=UTC)) != doctor_client.canary_word(morning)
    item = doctor_client.canary("canary1")
    assert (item["source"], item["project"]) == ("argus", "argus-canary")


@pytest.mark.parametrize(
    ("state", "any_wired", "status"),
    [
        ("wired", True, "ok"),
        ("stale", True, "failed"),
        ("duplicate", True, "failed"),
        ("missing", True, "unknown"),
        ("missing", False, "warn"),
        ("off", True, "failed"),
    ],
)
def test_hooks_are_judged(state: str, any_wired: bool, status: str) -> None:
    """A target that was never wanted is nothing to look at while the other is wired."""
    assert judge_hooks(state, any_wired) == status


WINTER = datetime(2026, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("chosen", "machine", "status"),
    [
        (None, "Europe/Vienna", "ok"),
        ("Europe/Vienna", "Europe/Vienna", "ok"),
        ("Europe/Paris", "Europe/Vienna", "ok"),
        ("Europe/Vienna", "UTC", "warn"),
    ],
)
def test_zones_that_differ_are_a_hint(chosen: str | None, machine: str, status: str) -> None:
    """Another zone than the machine's is said, unless both show the same hours."""
    finding = doctor_around.judge_zone(chosen, machine, WINTER)
    assert finding.status == status
    assert (chosen or machine) in finding.detail


def script(folder: Path, text: str) -> str:
    path = folder / "program"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("text", "status", "words"),
    [("echo '2.1.260 (Claude Code)'", "ok", "2.1.260 (Claude Code)"), ("exit 3", "warn", "exit code 3")],
)
def test_an_engine_tells_its_version(tmp_path: Path, text: str, status: str, words: str) -> None:
    """The first line of --version; a program that cannot say it is a hint."""
    finding = doctor_around.judge_version("claude", script(tmp_path, text))
    assert (finding.status, words in finding.detail) == (status, True)


def test_engines_that_are_not_there_are_no_fault(tmp_path: Path) -> None:
    """Only agent tasks need them."""
    settings = load_settings(
        {"ARGUS_HOME": str(tmp_path), "ARGUS_CLAUDE": "no-such", "ARGUS_CODEX": "no-such-either"}
    )
    assert [f.status for f in doctor_around.check_engines(settings)] == ["unknown", "unknown"]


def test_a_broken_stanza_is_a_failure_with_its_line_and_cure(tmp_path: Path) -> None:
    """What cannot run is named; a list that can be used is ok."""
    (tmp_path / "config.ini").write_text("[tick]\nhandler = nonsense\ncommand = true\n")
    settings = load_settings({"ARGUS_HOME": str(tmp_path), "ARGUS_TASKS": str(tmp_path)})
    findings = list(doctor_around.check_tasks(settings))
    assert [(f.status, "config.ini:" in f.detail, bool(f.cure)) for f in findings] == [("failed", True, True)]
    (tmp_path / "config.ini").write_text("")
    assert [f.status for f in doctor_around.check_tasks(settings)] == ["ok"]


def test_without_a_telegram_token_nothing_is_asked(tmp_path: Path) -> None:
    """Unknown, with what that means."""
    findings = list(doctor_around.check_telegram(load_settings({"ARGUS_HOME": str(tmp_path)})))
    assert [(f.status, "none is sent" in f.detail) for f in findings] == [("unknown", True)]


def test_the_bot_is_asked_who_it_is(tmp_path: Path) -> None:
    """A token that is refused is to be mended; a server that does not answer cannot be reached."""
    with TelegramServer() as server:
        chosen = {
            "ARGUS_HOME": str(tmp_path),
            "ARGUS_TELEGRAM_TOKEN": server.token,
            "ARGUS_TELEGRAM_BASE_URL": server.url,
            "ARGUS_TELEGRAM_CHATS": "main=1",
        }
        (well,) = doctor_around.check_telegram(load_settings(chosen))
        (wrong,) = doctor_around.check_telegram(load_settings({**chosen, "ARGUS_TELEGRAM_TOKEN": "1:other"}))
    (gone,) = doctor_around.check_telegram(load_settings(chosen))
    assert (well.status, wrong.status, wrong.away) == ("ok", "failed", False)
    assert (gone.status, gone.away) == ("failed", True)
    assert "1:other" not in wrong.detail


def test_transcripts_that_go_soon_and_were_never_captured(tmp_path: Path) -> None:
    """Main files in which somebody spoke, outside excluded folders; those memory has nothing of are a hint."""
    folder = tmp_path / "projects" / "-home-kim-garden"
    folder.mkdir(parents=True)
    for name, cwd in (("one", "/home/kim/garden"), ("two", "/home/kim/garden"), ("three", "/home/kim/private/x")):
        (folder / f"{name}.jsonl").write_text(f'{{"type":"user","cwd":"{cwd}"}}\n')
    (folder / "agent-1.jsonl").write_text('{"type":"user"}\n')
    (folder / "silent.jsonl").write_text('{"type":"summary"}\n')
    found = doctor_transcripts.find_transcripts(tmp_path / "projects", 10**10)
    kept = [one for one in found if doctor_transcripts.holds_turns(one.path, ("/home/kim/private",))]
    assert sorted(one.session for one in kept) == ["one", "two"]
    assert min(one.age_days for one in kept) > 1000
    assert doctor_transcripts.judge_soon(kept, {"one", "two"}, tmp_path).status == "ok"
    finding = doctor_transcripts.judge_soon(kept, {"one"}, tmp_path)
    assert (finding.status, "1 of them not captured" in finding.detail) == ("warn", True)
