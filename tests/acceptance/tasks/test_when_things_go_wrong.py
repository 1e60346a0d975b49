"""A whole hub, tried as an operator would: each thing that goes wrong shows in time, once, and so does its end.

One hub for all, so the tests stand in the order of the story; each can be read by itself. Run with `-s` to see the
seconds that were measured. Both watchdogs with the other one dead: tests/acceptance/watchdogs.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from argus_memory.watch.alerts import describe_span
from argus_memory.watch.dagster_launch import ask_dagster, wait_run
from argus_memory.watch.sender_state import load_state
from tests.acceptance.tasks.scene import PATIENCE, Scene, escaped, new_scene, task_process
from tests.helpers import wait_until
from tests.task_stanzas import stanza

pytestmark = pytest.mark.slow

TO_OUTBOX = 5.0  # seconds from a failure, of the issue
TO_TELEGRAM = 10.0
NO_SHOW = 60.0  # seconds after the grace
MINUTE = 60.0 + PATIENCE  # to the next full minute, and what a run takes on a busy machine
GRACE = timedelta(seconds=20)

KILLED = ("api", "daemon", "code")
FAILS = """
import pathlib, sys, time
if pathlib.Path("mended").exists():
    sys.exit(print("all is well"))
if not pathlib.Path("failed_at").exists():
    pathlib.Path("failed_at").write_text(str(time.time()))
sys.exit("no bread in the house")
"""
ENGINES = Path(__file__).parents[2] / "stubs" / "engines"


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Tasks of every kind beside a broken one; `quiet` is paused at once."""
    folder, log = tmp_path_factory.mktemp("tasks"), tmp_path_factory.mktemp("log")
    stanzas = (
        stanza("steady", command="echo the first words", schedule="* * * * *"),
        stanza("breaks", command="python run.py", schedule="* * * * *"),
        stanza("quiet", schedule="* * * * *", start_grace="20s"),
        stanza("elsewhere", schedule="* * * * *", start_grace="20s", mode="observe"),
        stanza("child", command="sleep 300"),
        stanza("worker", command="sleep 300"),
        stanza("long", command="until test -e enough; do sleep 0.2; done"),
        stanza("patient", command="until test -e enough; do sleep 0.2; done; exit 4"),
        stanza("once", command="python run.py"),
        stanza("garden", handler="agent", prompt="Look after the beds.", engines="claude,codex", env__STAND_IN_LOG=str(log),
               env__STAND_IN_CLAUDE="rejected", env__STAND_IN_CODEX="ok"),
        stanza("broken", schedule="61 * * * *"),
    )  # fmt: skip
    files = {"breaks/run.py": FAILS, "once/run.py": FAILS}
    settings = {"ARGUS_CLAUDE": str(ENGINES / "claude"), "ARGUS_CODEX": str(ENGINES / "codex")}
    with new_scene(folder, "".join(stanzas), files, settings) as made:
        made.call("task", "pause", "quiet", "--reason", "its bed is dug over")
        made.ready_at = datetime.now(UTC)
        yield made


def see_failure(scene: Scene, task: str, failed_at: datetime) -> dict[str, Any]:
    """The alert of a task's failure: in the outbox and on the telephone in time, each once; the message."""
    alert = scene.alert("task-failed", f"task:{task}")
    message = scene.message(alert)
    arrived = scene.arrival(message)
    assert scene.measure(f"{task}: failure to outbox", failed_at, message["created_at"]) < TO_OUTBOX
    assert scene.measure(f"{task}: failure to Telegram", failed_at, arrived) < TO_TELEGRAM
    assert scene.told("task-failed", alert["subject"]) == ["alert"]
    return message


def failed_at(scene: Scene, task: str) -> datetime:
    """When the task itself says that it first failed."""
    return datetime.fromtimestamp(float((scene.tasks / task / "failed_at").read_text()), UTC)


def test_a_report_satisfies_an_observed_task(scene: Scene) -> None:
    """The report of another scheduler makes the occurrence ok, though Argus starts nothing."""
    due_at = datetime.now(UTC).replace(second=0, microsecond=0)
    report = {"task": "elsewhere", "outcome": "ok", "started_at": due_at.isoformat(), "due_at": due_at.isoformat()}
    status, receipt = scene.post("/runs", report)
    assert (status, receipt["verdict"]) == (201, "finished")
    row = scene.one(
        """select e.due_at, e.status, e.decided_by, r.started_by from expected_runs e
           join task_runs r on r.id = e.task_run_id where e.task = 'elsewhere'""", "the report is not in the ledger",
    )  # fmt: skip
    assert row == {"due_at": due_at, "status": "ok", "decided_by": "report", "started_by": "report"}


def test_a_killed_task_is_told(scene: Scene) -> None:
    """kill -9 of the task's own process: failed with signal 9 and who did it not, told in time."""
    run = scene.launch("child")
    worker = scene.started("child")["pid"]
    process = wait_until(lambda: task_process(worker), what="no process of `child`")
    assert process is not None
    process.kill()
    killed_at = datetime.now(UTC)
    row = scene.ended("child", run=run)
    assert (row["outcome"], row["signal"], row["exit_code"]) == ("failed", 9, 137)
    see_failure(scene, "child", killed_at)
    assert wait_run(scene.settings, run, timeout_seconds=PATIENCE) == "FAILURE"


def test_a_killed_worker_is_told(scene: Scene) -> None:
    """kill -9 of the run's worker: its task ends with it, the run is orphaned, and that is told once."""
    run = scene.launch("worker")
    worker = scene.started("worker")["pid"]
    process = wait_until(lambda: task_process(worker), what="no process of `worker`")
    assert process is not None
    os.kill(worker, signal.SIGKILL)
    killed_at = datetime.now(UTC)
    row = scene.ended("worker", run=run)
    assert row["outcome"] == "orphaned"
    assert not process.is_running()
    see_failure(scene, "worker", killed_at)


def test_a_capped_engine_gives_way(scene: Scene) -> None:
    """claude is at its limit: codex does the job, the run says which engine ran and why the other did not."""
    run = scene.launch("garden")
    row = scene.ended("garden", run=run)
    assert (row["outcome"], row["engine"], row["cost_usd"]) == ("ok", "codex", None)
    claude, codex = scene.many("select * from engine_attempts where rid = %(rid)s order by place", rid=row["rid"])
    assert (claude["engine"], claude["outcome"], claude["next_engine"]) == ("claude", "capped", "codex")
    assert claude["reset_at"] > datetime.now(UTC)
    assert (codex["engine"], codex["outcome"]) == ("codex", "ok")
    attempts = {each["engine"]: each for each in row["output"]["attempts"]}
    assert "limit" in attempts["claude"]["reason"]
    assert scene.told("engine", "engine:claude") == []
    wait_until(
        lambda: run in scene.materialized("garden"), seconds=PATIENCE, step=0.5, what="garden is not materialized"
    )


def test_a_reload_leaves_running_tasks_alone(scene: Scene) -> None:
    """While a task is at work the list is read anew: the task goes on, and ends well."""
    run = scene.launch("long")
    row = scene.started("long")
    scene.call("reload", code=1)  # one stanza is broken
    assert scene.started("long")["rid"] == row["rid"]
    (scene.tasks / "long" / "enough").touch()
    assert scene.ended("long", run=run)["outcome"] == "ok"
    assert wait_run(scene.settings, run, timeout_seconds=PATIENCE) == "SUCCESS"


def test_killed_services_lose_nothing(scene: Scene) -> None:
    """kill -9 of API, daemon and code server while a task is at work: it goes on, its failure is told, once, and all are
    there again."""
    run = scene.launch("patient")
    row = scene.started("patient")
    # A run that is just being launched may get lost with the daemon, and is then told as failed: not the case here.
    wait_until(
        lambda: not scene.is_starting(), seconds=PATIENCE, step=0.05, what="runs are being launched all the time"
    )
    killed_at = datetime.now(UTC)
    for name in KILLED:
        os.kill(scene.pids[name], signal.SIGKILL)
    (scene.tasks / "patient" / "enough").touch()
    ended = scene.ended("patient", run=run)
    assert (ended["rid"], ended["outcome"], ended["exit_code"]) == (row["rid"], "failed", 4)
    message = scene.message(scene.alert("task-failed", "task:patient"))
    assert (
        scene.measure("patient: failure to outbox, services killed", ended["finished_at"], message["created_at"])
        < TO_OUTBOX
    )
    arrived = scene.arrival(message)
    scene.measure("patient: failure to Telegram, services killed", ended["finished_at"], arrived)
    assert wait_run(scene.settings, run, timeout_seconds=PATIENCE) == "FAILURE"
    wait_until(lambda: scene.is_well(killed_at), seconds=PATIENCE, step=0.5, what="not all services are back")
    now = scene.hub.pids()
    assert {name for name in now if now[name] != scene.pids[name]} == set(KILLED)
    scene.pids = now


def test_a_task_runs_on_time_and_is_seen_everywhere(scene: Scene) -> None:
    """Without a hand the task starts at its minute; report, ledger and Dagster show the same run."""
    row = scene.one(
        """select r.*, e.status, e.start_by, e.dagster_run_id as expected_run from task_runs r
           join expected_runs e on e.task_run_id = r.id
           where r.task = 'steady' and r.started_by = 'schedule' and r.finished_at is not null
             and r.due_at > %(ready)s order by r.id""",
        "steady did not run", seconds=MINUTE, ready=scene.ready_at,
    )  # fmt: skip
    assert (row["outcome"], row["exit_code"], row["status"]) == ("ok", 0, "ok")
    assert row["stdout_tail"].strip() == "the first words"
    assert row["due_at"].second == 0
    assert row["due_at"] <= row["started_at"] <= row["start_by"]
    scene.measure("steady: due to start", row["due_at"], row["started_at"])
    assert row["expected_run"] == row["dagster_run_id"]
    assert wait_run(scene.settings, row["dagster_run_id"], timeout_seconds=PATIENCE) == "SUCCESS"
    assert row["dagster_run_id"] in scene.materialized("steady")


def test_a_failure_is_told(scene: Scene) -> None:
    """A task beside it fails every minute: red in Dagster, in the outbox and on the telephone, once, with its words."""
    query = "select * from task_runs where task = 'breaks' and finished_at is not null order by id"
    run = scene.one(query, "breaks did not run", seconds=MINUTE)
    assert (run["outcome"], run["exit_code"], run["started_by"]) == ("failed", 1, "schedule")
    message = see_failure(scene, "breaks", failed_at(scene, "breaks"))
    assert "no bread in the house" in message["body"]
    assert message["link"].endswith(run["dagster_run_id"])
    assert wait_run(scene.settings, run["dagster_run_id"], timeout_seconds=PATIENCE) == "FAILURE"


def test_a_broken_stanza_stands_alone(scene: Scene) -> None:
    """It is an asset that names line and cure, with a failed check and an alert; its neighbours and memory are there."""
    message = scene.message(scene.alert("task-broken", "task:broken"))
    scene.arrival(message)
    line = (scene.tasks / "config.ini").read_text().splitlines().index("schedule = 61 * * * *") + 1
    assert f"config.ini:{line}" in message["title"] + message["body"]
    query = "query { assetNodes { groupName description assetKey { path } } }"
    nodes = ask_dagster(f"http://127.0.0.1:{scene.hub.dagster_port}", query, {}, seconds=60)["assetNodes"]
    seen = {"/".join(node["assetKey"]["path"]): node for node in nodes}
    assert seen["task/broken"]["groupName"] == "tasks_broken"
    assert f"config.ini:{line}" in seen["task/broken"]["description"]
    assert seen["task/steady"]["groupName"] == "tasks"
    assert "distilled_notes" in seen
    check = scene.one(
        """select execution_status as status, run_id from dagster.asset_check_executions
           where check_name = 'config_valid' and asset_key = '["task", "broken"]'""", "no check of `broken`",
    )  # fmt: skip
    assert (check["status"], check["run_id"] or None) == ("FAILED", None)
    assert scene.told("task-broken", "task:broken") == ["alert"]


@contextmanager
def unplugged(scene: Scene) -> Iterator[None]:
    """Telegram answers 500; inside it may be stopped as well. Afterwards it is well."""
    scene.telegram.behave("500")
    try:
        yield
    finally:
        scene.telegram.behave("ok")
        scene.telegram.start()


def test_telegram_unplugged_loses_and_doubles_nothing(scene: Scene) -> None:
    """It answers 500, then not at all: messages wait as rows; when it is back each arrives, once."""
    words = [f"Row {number} of the bed" for number in range(3)]
    wait_until(lambda: not scene.waiting(), seconds=PATIENCE, step=0.2, what="messages wait")
    with unplugged(scene):
        run = scene.launch("once")
        for number, title in enumerate(words * 2):  # each twice with its key, as a script that tries again
            status, _ = scene.post("/deliver", {"title": title, "text": "is dug", "key": f"bed:{number % 3}"})
            assert status == (201 if number < 3 else 200)
        scene.ended("once", run=run)
        alert = scene.alert("task-failed", "task:once")
        message = scene.message(alert)
        assert scene.measure("once: failure to outbox", failed_at(scene, "once"), message["created_at"]) < TO_OUTBOX
        scene.one("select 1 from delivery_attempts where status = 500", "nothing was tried")
        scene.telegram.stop()
        wait_until(
            lambda: sender_error(scene).startswith("ConnectError"),
            seconds=PATIENCE, step=0.2, what="the sender has not seen that Telegram is gone",
        )  # fmt: skip
        titles = {*words, alert["title"]}
        assert scene.waiting() >= titles
        assert not [title for title in titles if count_arrived(scene, title)]
    back = datetime.now(UTC)
    wait_until(lambda: not scene.waiting(), seconds=PATIENCE, step=0.1, what="messages still wait")
    scene.measure("Telegram is back: until everything is sent", back, datetime.now(UTC))
    assert {title: count_arrived(scene, title) for title in titles} == dict.fromkeys(titles, 1)
    assert not [text for text in scene.telegram.texts if "sent again" in text]


def sender_error(scene: Scene) -> str:
    """Why the sender takes Telegram for away."""
    state = load_state(scene.store).of("telegram")
    return state.error or "" if state.status == "away" else ""


def count_arrived(scene: Scene, title: str) -> int:
    # In its first line: the daily digest, should its hour come during the story, repeats what is wrong below.
    return sum(escaped(title) in text.partition("\n")[0] for text in scene.telegram.texts)


def test_a_missing_report_is_a_no_show(scene: Scene) -> None:
    """The next time of the observed task passes without a report: told soon after its grace, and never started."""
    missed = scene.one(
        "select * from expected_runs where task = 'elsewhere' and status = 'missed' order by due_at",
        "the missing report is not told", seconds=MINUTE + GRACE.total_seconds() + NO_SHOW,
    )  # fmt: skip
    assert missed["start_by"] == missed["due_at"] + GRACE
    assert scene.measure("elsewhere: no-show after the grace", missed["start_by"], missed["status_at"]) < NO_SHOW
    arrived = scene.arrival(scene.message(scene.alert("no-show", "task:elsewhere")))
    assert scene.measure("elsewhere: grace to Telegram", missed["start_by"], arrived) < NO_SHOW
    assert not scene.many("select 1 from task_runs where task = 'elsewhere' and started_by <> 'report'")


def test_a_paused_task_is_no_alarm(scene: Scene) -> None:
    """What is due while it is paused is `paused` in the ledger, with who did it, and nobody is called."""
    row = scene.one(
        "select * from expected_runs where task = 'quiet' and due_at > %(ready)s and status <> 'expected' order by id",
        "nothing is decided of quiet", seconds=MINUTE + GRACE.total_seconds(), ready=scene.ready_at,
    )  # fmt: skip
    assert row["status"] == "paused"
    assert row["reason"].startswith("paused by ")
    assert not scene.many(
        "select 1 from task_runs where task = 'quiet' and started_at > %(ready)s", ready=scene.ready_at
    )
    scene.call("task", "resume", "quiet")


def test_what_is_mended_is_told_and_changes_need_no_restart(scene: Scene) -> None:
    """A mended task, an edited stanza and a resumed one at the next minute: a recovery with the down time, the new
    words, a run; the broken stanza's end is told too, and no service was restarted."""
    failed = "select 1 from task_runs where task = 'breaks' and outcome = 'failed'"
    wait_until(lambda: len(scene.many(failed)) > 1, seconds=2 * MINUTE, step=0.5, what="breaks failed once only")
    (scene.tasks / "breaks" / "mended").touch()
    file = scene.tasks / "config.ini"
    file.write_text(file.read_text().replace("the first words", "other words").replace("61 *", "1 *"))
    text = scene.call("reload")
    assert "changed      steady" in text
    assert "mended       broken" in text
    alert = scene.one(
        "select * from alerts where kind = 'task-failed' and subject = 'task:breaks' and closed_at is not null",
        "breaks has not recovered", seconds=MINUTE,
    )  # fmt: skip
    recovery = scene.message(alert, "recovery")
    scene.arrival(recovery)
    assert recovery["title"] == "Task breaks ran well again"
    assert recovery["body"] == f"It lasted {describe_span(alert['closed_at'] - alert['opened_at'])}."
    assert scene.told("task-failed", "task:breaks") == ["alert", "recovery"]
    ran = "select * from task_runs where task = %(task)s and outcome = 'ok' and stdout_tail like %(words)s"
    scene.one(ran, "steady does not say its new words", task="steady", words="other words%", seconds=MINUTE)
    scene.one(
        ran + " and started_at > %(since)s",
        "quiet does not run again",
        task="quiet",
        words="quiet%",
        since=alert["opened_at"],
        seconds=MINUTE,
    )
    assert scene.told("task-broken", "task:broken") == ["alert", "recovery"]
    assert scene.hub.pids() == scene.pids


def test_everything_was_told_once(scene: Scene) -> None:
    """Over the whole story: no alert nobody caused, each message in Telegram as often as it was written."""
    wait_until(lambda: not scene.waiting(), seconds=PATIENCE, step=0.2, what="messages wait")
    told = {f"{row['kind']} {row['subject']}": row["n"] for row in scene.many(
        "select kind, subject, count(*)::int as n from alerts group by 1, 2"
    )}  # fmt: skip
    caused = ("breaks", "patient", "child", "worker", "once")
    expected = [f"task-failed task:{name}" for name in caused]
    assert told == dict.fromkeys([*expected, "task-broken task:broken", "no-show task:elsewhere"], 1)
    rows = scene.many("select title, status, parts_sent from deliveries")
    assert {row["status"] for row in rows} == {"sent"}
    written = Counter(row["title"] for row in rows)
    arrived = Counter({title: count_arrived(scene, title) for title in written})
    assert arrived == written
    assert len(scene.telegram.texts) == len(rows)
