"""An Ofelia config.ini → verdicts and stanzas; and the way back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus_memory.records import TaskSpec
from argus_memory.tasks.config import parse_task_list
from argus_memory.tasks.export_ofelia import export_ofelia, quote, write_span
from argus_memory.tasks.gcfg import read_gcfg
from argus_memory.tasks.import_ofelia import import_ofelia
from argus_memory.tasks.imported_jobs import ImportedJob, convert_span, stanza_of

EVERY_KEY = r'''
; the whole of it
[global]
slack-webhook = https://hooks.example.invalid/T0
slack-only-on-error
save-folder = /var/log/ofelia
smtp-host = mail.example.invalid
smtp-password = hush

[job-local "tidy up"]
schedule = 0 30 2 * * *
command = find /var/tmp -name "*.old" -delete   ; every night
dir = /srv/tidy
environment = LEVEL=5
environment = "TITLE=semi;colon # and all"
no-overlap

[job-exec "dump"]
schedule = CRON_TZ=Asia/Tokyo 0 15 4 ? * SUN
container = db
user = postgres
tty = true
command = pg_dump app
environment = PGPASSWORD=hush

[job-run "report"]
schedule = @weekly
image = registry.example.invalid/report:1
user = 1000:1000
network = inner
hostname = reporter
delete = false
pull = false
tty = true
volume = /data:/data:ro
volume = /out:/out
volumes-from = store
environment = WEEK=this one
command = report --all
no-overlap = true
save-folder = /var/log/report

[job-run "restart"]
schedule = @every 1h30m
container = worker
'''


def jobs(text: str) -> dict[str, ImportedJob]:
    return {job.name: job for job in import_ofelia(text, zone="Europe/Vienna").jobs}


def one(text: str) -> ImportedJob:
    (job,) = import_ofelia(text, zone="Europe/Vienna").jobs
    return job


def test_every_key_of_ofelia_has_its_place() -> None:
    """The golden file: local, exec and run jobs with all their keys become these stanzas."""
    found = jobs(EVERY_KEY)
    assert {name: job.verdict for name, job in found.items()} == dict.fromkeys(found, "runs as")
    assert {name: dict(job.values) for name, job in found.items()} == {
        "tidy-up": {
            "command": "find /var/tmp -name '*.old' -delete", "schedule": "30 2 * * *", "timezone": "Europe/Vienna",
            "no_overlap": "true", "max_runtime": "1d", "folder": "/srv/tidy", "env.LEVEL": "5",
            "env.TITLE": "semi;colon # and all",
        },
        "dump": {
            "command": "docker exec --user postgres --tty --env PGPASSWORD db pg_dump app", "schedule": "15 4 * * SUN",
            "timezone": "Asia/Tokyo", "no_overlap": "false", "max_runtime": "1d", "env.PGPASSWORD": "hush",
        },
        "report": {
            "command": "docker run --pull never --network inner --hostname reporter --volume /data:/data:ro"
            " --volume /out:/out --volumes-from store --user 1000:1000 --tty --env WEEK"
            " registry.example.invalid/report:1 report --all",
            "schedule": "@weekly", "timezone": "Europe/Vienna", "no_overlap": "true", "max_runtime": "1d",
            "env.WEEK": "this one",
        },
        "restart": {
            "command": "docker start --attach worker", "schedule": "@every 1h30m", "timezone": "Europe/Vienna",
            "no_overlap": "false", "max_runtime": "1d",
        },
    }  # fmt: skip


def test_what_is_not_taken_over_is_said() -> None:
    """Reports by mail, Slack and folder are named once for the file and once for a job that has its own; no secret is."""
    imported = import_ofelia(EVERY_KEY, zone="Europe/Vienna")
    told = "\n".join([*imported.notes, *(reason for job in imported.jobs for reason in job.reasons)])
    assert "[global] slack-webhook, slack-only-on-error, save-folder, smtp-host, smtp-password: not taken over" in told
    assert "save-folder: not taken over" in " ".join(jobs(EVERY_KEY)["report"].reasons)
    assert "hush" not in told
    assert "T0" not in told
    assert "spring gap" in told


@pytest.mark.parametrize(
    ("schedule", "verdict", "reason"),
    [
        ("0 5 4 * * *", "runs as", None),
        ("@midnight", "runs as", None),
        ("@every 90s", "runs as", "counts from the clock"),
        ("@every 1.5h", "runs as", "counts from the clock"),
        ("TZ=Asia/Tokyo 0 5 4 * * *", "runs as", None),
        ("5 4 * * *", "ambiguous", "five fields"),
        ("0 5 4 * * 7", "ambiguous", "day of week 7"),
        ("30 5 4 * * *", "not supported", "seconds are `30`"),
        ("* 5 4 * * *", "not supported", "seconds are `*`"),
        ("@every 10s", "not supported", "shorter than a minute"),
        ("@every soon", "not supported", "no span"),
        ("@reboot", "not supported", "known neither"),
        ("0 61 4 * * *", "not supported", "schedule: "),
        ("TZ=Mars/Base @daily", "not supported", "not a time zone"),
        ("4 *", "not supported", "2 fields"),
        ("", "not supported", "schedule is missing"),
    ],
)
def test_schedules_get_their_verdict(schedule: str, verdict: str, reason: str | None) -> None:
    """What runs the same, what depends on Ofelia's version, what Argus cannot do."""
    job = one(f'[job-local "x"]\ncommand = true\nschedule = {schedule}\n')
    assert job.verdict == verdict
    assert reason is None or reason in " ".join(job.reasons)
    assert bool(job.values) == (verdict != "not supported")


@pytest.mark.parametrize(
    ("text", "verdict", "reason"),
    [
        ('[job-service-run "x"]\nschedule = @daily\nimage = y\n', "not supported", "swarm"),
        ('[job-other "x"]\nschedule = @daily\ncommand = y\n', "not supported", "no kind of job"),
        ('[job-local]\nschedule = @daily\ncommand = y\n', "not supported", "no name"),
        ('[job-local "x"]\nschedule = @daily\n', "not supported", "command is missing"),
        ('[job-exec "x"]\nschedule = @daily\ncommand = y\n', "not supported", "container is missing"),
        ('[job-run "x"]\nschedule = @daily\n', "not supported", "image or container is missing"),
        ('[job-local "x"]\nschedule = @daily\ncommand = "it\'s"\n', "not supported", "no closing quotation"),
        ('[job-local "x"]\nschedule = @daily\ncommand = y\nretry = 3\n', "ambiguous", "`retry` is unknown"),
        ('[job-local "x"]\nschedule = @daily\ncommand = y\nenvironment = A\n', "ambiguous", "no NAME=value"),
        ('[job-local "x"]\nschedule = @daily\ncommand = y\nenvironment = A=${B}\n', "ambiguous", "replaces ${"),
        ('[job-local "x"]\nschedule = @daily\ncommand = y\nchannel = ops\n', "runs as", "`channel` is a key of Argus"),
        ('[job-local "x"]\nschedule = @daily\ncommand = a | b\n', "runs as", "starts no shell"),
        ('[job-local "x"]\nschedule = @daily\ncommand = "a\nno-overlap\n', "not supported", "a quote is not closed"),
        ('[job-local "x"]\nschedule = @daily\ncommand = C:\\dir\n', "not supported", "escape that Ofelia refuses"),
        ('[job-local "x"\nschedule = @daily\ncommand = y\n', "not supported", "is no section"),
    ],
)  # fmt: skip
def test_jobs_get_their_verdict(text: str, verdict: str, reason: str) -> None:
    """Each job says whether it can be had, and why not or with what difference."""
    job = one(text)
    assert job.verdict == verdict
    assert reason in " ".join(job.reasons).replace("No closing", "no closing")


def test_a_pipe_stays_a_word() -> None:
    """Ofelia would pass `|` to the command, and so does the stanza's shell."""
    assert one('[job-local "x"]\nschedule = @daily\ncommand = echo a | wc $HOME\n').values["command"] == "echo a '|' wc '$HOME'"


def test_a_second_import_adds_nothing() -> None:
    """A job whose name is a task's already is left alone; names alike in one file are told apart."""
    text = '[job-local "a b"]\nschedule = @daily\ncommand = x\n[job-local "a-b"]\nschedule = @daily\ncommand = y\n'
    first = import_ofelia(text, zone="UTC").jobs
    assert [job.name for job in first] == ["a-b", "a-b-2"]
    again = import_ofelia(text, zone="UTC", taken=["a-b", "a-b-2"]).jobs
    assert all(not job.values and "already" in job.reasons[0] for job in again)


def test_stanzas_are_read_back(tmp_path: Path) -> None:
    """What is written for a job is a task with those values; a doubtful one is switched off and says why."""
    text = EVERY_KEY + '\n[job-local "vague"]\nschedule = 5 4 * * *\ncommand = sh -c \'one\\ntwo\'\n'
    found = import_ofelia(text, zone="Europe/Vienna").jobs
    written = "\n".join(stanza_of(job, "observe", "config.ini") for job in found)
    task_list = parse_task_list(written.encode(), tmp_path / "config.ini", default_zone="UTC")
    assert task_list.broken == ()
    tasks = {task.name: task for task in task_list.tasks}
    assert (tasks["tidy-up"].mode, tasks["tidy-up"].env["TITLE"]) == ("observe", "semi;colon # and all")
    assert (tasks["vague"].enabled, tasks["vague"].command) == (False, "sh -c 'one\ntwo'")
    assert "; five fields" in written


@given(st.text())
@settings(deadline=None)
def test_no_text_makes_it_raise(text: str) -> None:
    """Any file gets verdicts."""
    for job in import_ofelia(f'[job-local "x"]\nschedule = @daily\n{text}', zone="UTC").jobs:
        assert job.verdict in ("runs as", "ambiguous", "not supported")


@given(st.text(alphabet=st.characters(blacklist_categories=["Cs"], blacklist_characters="\r\b")))
def test_a_quoted_value_is_read_back(value: str) -> None:
    """Whatever a value holds, quoting carries it through gcfg."""
    (section,), _ = read_gcfg(f'[job-local "x"]\ncommand = {quote(value)}\n')
    assert section.last("command") == value


@pytest.mark.parametrize(("go", "argus"), [("1h30m", "1h30m"), ("1.5h", "1h30m"), ("90s", "1m30s"), ("100ms", None), ("", None), ("5", None)])
def test_gos_spans_become_ours(go: str, argus: str | None) -> None:
    """Hours, minutes and seconds, with fractions that come out even."""
    assert convert_span(go) == argus


def listed(folder: Path, text: str) -> tuple[TaskSpec, ...]:
    task_list = parse_task_list(text.encode(), folder / "config.ini", default_zone="Europe/Vienna")
    assert task_list.broken == ()
    return task_list.tasks


TASKS = """
[nightly]
command = sh run.sh
folder = .
schedule = 30 2 * * 7
channel = ops
start_grace = 10m
description = Every night
env.LEVEL = 5
env.TOKEN = ${TOKEN}
[tokyo]
command = date && echo done > out
folder = .
schedule = 0 0 9 * * 1-5
timezone = Asia/Tokyo
no_overlap = false
[often]
command = sh run.sh
folder = .
schedule = @every 90m
"""


def test_the_export_holds_only_what_ofelia_knows(tmp_path: Path) -> None:
    """The golden export: seconds first, a zone where it differs, a shell where one is needed, the rest in comments."""
    assert export_ofelia(listed(tmp_path, TASKS), zone="Europe/Vienna") == f"""; Written by Argus from config.ini. Set TZ=Europe/Vienna for Ofelia.

[job-local "nightly"]
schedule = 0 30 2 * * 0
command = "sh run.sh"
dir = "{tmp_path}"
no-overlap = true
environment = "LEVEL=5"
; Ofelia has no TOKEN: give it to its container
; argus: env.TOKEN = ${{TOKEN}}
; argus: start_grace = 10m
; argus: channel = ops
; argus: description = Every night
; argus: timezone = Europe/Vienna

[job-local "tokyo"]
schedule = CRON_TZ=Asia/Tokyo 0 0 9 * * 1-5
command = "sh -c 'date && echo done > out'"
dir = "{tmp_path}"
; argus: timezone = Asia/Tokyo

[job-local "often"]
schedule = @every 1h30m
command = "sh run.sh"
dir = "{tmp_path}"
no-overlap = true
; argus: timezone = Europe/Vienna
"""


def test_there_and_back_loses_nothing(tmp_path: Path) -> None:
    """An export imported again has the same schedules, zones, spans, channels and env."""
    tasks = listed(tmp_path, TASKS)
    imported = import_ofelia(export_ofelia(tasks, zone="Europe/Vienna"), zone="UTC")
    back = listed(tmp_path, "\n".join(stanza_of(job, "run", "export") for job in imported.jobs))
    for old, new in zip(tasks, back, strict=True):
        assert (new.name, new.timezone, new.start_grace, new.channel, dict(new.env), new.no_overlap, new.description) == (
            old.name, old.timezone, old.start_grace, old.channel, dict(old.env), old.no_overlap, old.description,
        )  # fmt: skip
        assert new.folder == old.folder
    assert back[1].command == "sh -c 'date && echo done > out'"


@pytest.mark.parametrize(
    ("stanza", "reason"),
    [
        ("command = x\n", "it has no schedule"),
        ("command = x\nschedule = @daily\nenabled = no\n", "it is not enabled"),
        ("command = x\nschedule = @daily\nimage = y\n", "its container"),
        ("command = echo 'a' > b\nschedule = @daily\n", "put it into a script"),
        ("command = x\nschedule = 0 4 * * 5-7\n", "days of the week"),
        ("handler = llm\nprompt = x\nschedule = @daily\n", "handler llm needs Argus"),
        ("mode = observe\nschedule = @daily\n", "no command here"),
    ],
)
def test_what_ofelia_cannot_run_is_left_out_and_said(tmp_path: Path, stanza: str, reason: str) -> None:
    """A task Ofelia has no way to run is a comment with the reason, never a section it would stop at."""
    text = export_ofelia(listed(tmp_path, f"[x]\nfolder = .\n{stanza}"), zone="UTC")
    assert "[job-local" not in text
    assert reason in text


def test_spans_are_written_as_both_read_them() -> None:
    """Hours, minutes, seconds; no days, which Go does not know."""
    from datetime import timedelta

    assert [write_span(timedelta(seconds=s)) for s in (90, 3600, 90_061)] == ["1m30s", "1h", "25h1m1s"]
