"""A crontab → verdicts and stanzas."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus_memory.tasks.config import parse_task_list
from argus_memory.tasks.import_crontab import import_crontab
from argus_memory.tasks.imported_jobs import Imported, ImportedJob, stanza_of

EVERY_FORM = r"""
# DO NOT EDIT
MAILTO=ops@example.invalid
PATH = "/usr/local/bin:/usr/bin:/bin"
GREETING='good day'

# Nightly backup
15 3 * * 7   cd /srv/app && ./backup.sh --full >/dev/null 2>&1
@daily /usr/bin/python3 /opt/tools/rotate.py
*/10 8-18 * jan,feb mon-fri curl -fsS https://example.invalid/ping
0 9 1 * * mail -s "at 100\%" me%first line%second
SHELL=/bin/bash
HOME=/srv/app
CRON_TZ=Asia/Tokyo
0 6 * * * [[ -d data ]] && ./digest
"""


def read(text: str, **options: bool) -> Imported:
    return import_crontab(text, zone="Europe/Vienna", user="ann", **options)


def one(text: str, **options: bool) -> ImportedJob:
    (job,) = read(text, **options).jobs
    return job


def test_every_form_of_a_line_has_its_place() -> None:
    """The golden crontab: variables, names, @words, `%`, another shell, home and zone become these stanzas."""
    found = {job.name: job for job in read(EVERY_FORM).jobs}
    assert {name: job.verdict for name, job in found.items()} == dict.fromkeys(found, "runs as")
    rest = {"timezone": "Europe/Vienna", "no_overlap": "false", "max_runtime": "1d",
            "env.PATH": "/usr/local/bin:/usr/bin:/bin", "env.GREETING": "good day"}  # fmt: skip
    assert {name: dict(job.values) for name, job in found.items()} == {
        "backup": {
            "description": "Nightly backup", "command": "cd /srv/app && ./backup.sh --full >/dev/null 2>&1",
            "folder": "~", "schedule": "15 3 * * 7", **rest,
        },
        "rotate": {"command": "/usr/bin/python3 /opt/tools/rotate.py", "folder": "~", "schedule": "@daily", **rest},
        "curl": {
            "command": "curl -fsS https://example.invalid/ping", "folder": "~",
            "schedule": "*/10 8-18 * jan,feb mon-fri", **rest,
        },
        "mail": {
            "command": "printf '%s\\n' 'first line' second | { mail -s \"at 100%\" me; }", "folder": "~",
            "schedule": "0 9 1 * *", **rest,
        },
        "digest": {
            "command": "/bin/bash -c '[[ -d data ]] && ./digest'", "folder": "/srv/app", "schedule": "0 6 * * *",
            **rest, "timezone": "Asia/Tokyo",
        },
    }  # fmt: skip
    assert any(note.startswith("MAILTO: not taken over") for note in read(EVERY_FORM).notes)


@pytest.mark.parametrize(
    ("line", "verdict", "reason"),
    [
        ("@reboot /usr/bin/tunnel", "not supported", "@reboot"),
        ("@fortnightly x", "not supported", "`@fortnightly` is unknown"),
        ("61 * * * * x", "not supported", "schedule: "),
        ("0~30 4 * * * x", "not supported", "at random"),
        ("5 4 * *", "not supported", "command is missing"),
        ("5 4 * * *", "not supported", "command is missing"),
        ("nonsense", "not supported", "command is missing"),
        ("0 9 */2 * 1 x", "ambiguous", "cron wants both"),
        ("0 9 1 * 1 x", "runs as", "max_runtime"),
        ("TZ=Asia/Tokyo\n0 9 * * * x", "ambiguous", "TZ is set"),
        ("CRON_TZ=Mars/Base\n0 9 * * * x", "ambiguous", "not a time zone"),
        ("ARGUS_HOME=/x\n0 9 * * * x", "ambiguous", "set by Argus itself"),
    ],
)
def test_lines_get_their_verdict(line: str, verdict: str, reason: str) -> None:
    """What runs the same, what differs, what Argus cannot do, each with its reason."""
    job = one(line)
    assert job.verdict == verdict
    assert reason in " ".join(job.reasons)
    assert bool(job.values) == (verdict != "not supported")


def test_a_system_crontab_names_the_user() -> None:
    """Jobs of the user Argus runs as are taken; another one's are a doubt, since a task runs as Argus does."""
    imported = read("0 4 * * * ann /opt/a.sh\n0 5 * * * root /opt/b.sh\n", system=True)
    assert [(job.verdict, job.values["command"]) for job in imported.jobs] == [
        ("runs as", "/opt/a.sh"),
        ("ambiguous", "/opt/b.sh"),
    ]
    assert "runs as root there" in " ".join(imported.jobs[1].reasons)


def test_variables_hold_from_their_line_on() -> None:
    """A job above a variable does not have it."""
    first, second = read("0 4 * * * one\nLEVEL=2\n0 4 * * * two\n").jobs
    assert "env.LEVEL" not in first.values
    assert second.values["env.LEVEL"] == "2"


def test_stanzas_are_read_back(tmp_path: Path) -> None:
    """Every stanza written for the golden crontab is a task."""
    jobs = read(EVERY_FORM).jobs
    written = "\n".join(stanza_of(job, "observe", "crontab") for job in jobs)
    task_list = parse_task_list(written.encode(), tmp_path / "config.ini", default_zone="UTC")
    assert task_list.broken == ()
    assert [task.command for task in task_list.tasks] == [job.values["command"] for job in jobs]


@given(st.text())
@settings(deadline=None)
def test_no_text_makes_it_raise(text: str) -> None:
    """Any file gets verdicts, and names that differ."""
    jobs = read(text).jobs
    assert len({job.name for job in jobs}) == len(jobs)
