"""The main job with real processes: hook → API → Dagster run → recall hook of the next session."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from tests.acceptance.hub import REPOSITORY, Hub, new_hub
from tests.helpers import wait_until
from tests.stubs.llm_server import LlmServer

RECALLABLE_SECONDS = 75.0
HOOKS = REPOSITORY / "argus_api" / "hooks"
SESSION = "3f1c2a50-8f0e-4c62-9d55-6a2f0d7be101"
SAID = [
    ("user", "For the greenhouse controller we decided to use MQTT over port 8883 with client certificates."),
    ("assistant", "I moved the greenhouse controller to MQTT on port 8883; the old HTTP polling is removed."),
    ("user", "I prefer short commit messages in the imperative."),
]


def record(number: int, role: str, text: str, cwd: Path, at: datetime) -> dict[str, Any]:
    message: dict[str, Any] = {"role": role, "content": text}
    if role == "assistant":
        message = {"id": f"msg_{number}", "role": role, "content": [{"type": "text", "text": text}]}
    return {
        "type": role,
        "uuid": f"00000000-0000-4000-8000-{number:012d}",
        "parentUuid": None,
        "sessionId": SESSION,
        "timestamp": at.isoformat().replace("+00:00", "Z"),
        "cwd": str(cwd),
        "isSidechain": False,
        "version": "2.1.100",
        "message": message,
    }


class Person:
    """Someone with Claude Code on this machine, as far as the hooks see it."""

    def __init__(self, hub: Hub, folder: Path) -> None:
        self.hub = hub
        self.cwd = folder / "greenhouse"
        self.cwd.mkdir()
        self.transcript = folder / "claude" / "projects" / "-greenhouse" / f"{SESSION}.jsonl"
        self.transcript.parent.mkdir(parents=True)
        self.folder = folder

    def says(self, turns: list[tuple[str, str]]) -> None:
        start = datetime.now(UTC) - timedelta(minutes=1)
        lines = [
            json.dumps(record(number, role, text, self.cwd, start + timedelta(seconds=number)))
            for number, (role, text) in enumerate(turns)
        ]
        self.transcript.write_text("\n".join(lines) + "\n")

    def hook(self, name: str, event: str, **fields: Any) -> subprocess.CompletedProcess[str]:
        given = {
            "session_id": SESSION,
            "transcript_path": str(self.transcript),
            "cwd": str(self.cwd),
            "hook_event_name": event,
            **fields,
        }
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.folder),
            "ARGUS_HOME": str(self.hub.home),
            "ARGUS_API_URL": f"http://127.0.0.1:{self.hub.api_port}",
            "CLAUDE_CONFIG_DIR": str(self.folder / "claude"),
        }
        return subprocess.run(
            [sys.executable, "-I", "-S", str(HOOKS / f"{name}_hook.py")],
            input=json.dumps(given), capture_output=True, text=True, env=environment, timeout=30, check=True,
        )  # fmt: skip


@pytest.fixture(scope="module")
def model() -> Iterator[LlmServer]:
    with LlmServer() as server:
        yield server


@pytest.fixture(scope="module")
def hub(model: LlmServer) -> Iterator[Hub]:
    with new_hub({"ARGUS_LLM_BASE_URL": model.base_url, "ARGUS_DISTILL_MODEL": "openai/small"}) as hub:
        hub.start()
        yield hub


@pytest.fixture(scope="module")
def person(hub: Hub, tmp_path_factory: pytest.TempPathFactory) -> Person:
    person = Person(hub, tmp_path_factory.mktemp("person"))
    person.says(SAID)
    return person


def ask(hub: Hub, query: str) -> list[tuple[Any, ...]]:
    dsn = json.loads(hub.argus("dsn", "--json").stdout)["dsn"]
    with psycopg.connect(dsn) as connection:
        return connection.execute(query).fetchall()  # type: ignore[call-overload, no-any-return]


def test_a_closed_conversation_is_recallable_in_time(hub: Hub, person: Person) -> None:
    """After SessionEnd, nobody touching anything, notes of the conversation exist within 75 seconds."""
    started = person.hook("capture", "Stop")
    assert started.stdout == ""
    person.hook("capture", "SessionEnd", reason="prompt_input_exit")
    closed = time.monotonic()
    wait_until(lambda: ask(hub, "select 1 from turns having count(*) = 3"), what="three captured turns")
    notes = wait_until(
        lambda: ask(hub, "select title, content, model from distilled_notes where deleted_at is null"),
        seconds=RECALLABLE_SECONDS,
        step=0.5,
        what="notes of the conversation",
    )
    assert time.monotonic() - closed < RECALLABLE_SECONDS
    assert any("8883" in content for _, content, _ in notes)


def test_the_run_is_visible_in_dagster(hub: Hub, person: Person) -> None:
    """The notes come from a successful run of process_memory that the sensor started."""
    query = """{ runsOrError(filter: {pipelineName: "process_memory"}) {
                 ... on Runs { results { status tags { key value } } } } }"""
    url = f"http://127.0.0.1:{hub.dagster_port}/graphql"

    def finished() -> list[dict[str, Any]]:
        answer = httpx.post(url, json={"query": query}, timeout=30).json()
        runs = answer["data"]["runsOrError"]["results"]
        return [run for run in runs if run["status"] == "SUCCESS"]

    runs = wait_until(finished, seconds=60, step=0.5, what="a successful run of process_memory")
    tags = {tag["key"]: tag["value"] for tag in runs[0]["tags"]}
    assert tags["dagster/sensor_name"] == "pending_memory"


def test_every_stage_left_its_trace(hub: Hub, person: Person) -> None:
    """Boundary checks, model calls and a pass of each stage are rows."""
    assert ask(hub, "select count(*) > 0 from segment_checks") == [(True,)]
    assert ask(hub, "select distinct outcome from llm_calls where stage = 'distill'") == [("ok",)]
    stages = {row[0] for row in ask(hub, "select distinct stage from stage_passes where outcome = 'ok'")}
    assert {"segment", "distill", "dedup"} <= stages


def test_the_next_session_begins_with_it(hub: Hub, person: Person) -> None:
    """SessionStart of a new session in the same folder injects the decision, fenced, within the limit."""
    done = person.hook("recall", "SessionStart", session_id="another-session", source="startup", transcript_path="")
    output = json.loads(done.stdout)["hookSpecificOutput"]
    assert output["hookEventName"] == "SessionStart"
    assert "8883" in output["additionalContext"]
    assert len(output["additionalContext"]) <= 8000


def test_a_prompt_is_answered_with_what_is_on_record(hub: Hub, person: Person) -> None:
    """A prompt about the subject gets the note, one about something else gets nothing; the ledger has both."""
    about = person.hook(
        "recall", "UserPromptSubmit", session_id="third-session",
        prompt="Which port and protocol does the greenhouse controller use now?",
    )  # fmt: skip
    assert "8883" in json.loads(about.stdout)["hookSpecificOutput"]["additionalContext"]
    other = person.hook(
        "recall", "UserPromptSubmit", session_id="third-session",
        prompt="Write a poem about the medieval history of Portuguese cathedrals",
    )  # fmt: skip
    assert other.stdout == ""
    # The session's own: the canary asks as well.
    rows = ask(
        hub, "select cardinality(note_ids) > 0 from injections where prompt_mode and session = 'third-session' order by id"
    )
    assert rows == [(True,), (False,)]


def test_what_was_injected_is_not_captured_again(hub: Hub, person: Person) -> None:
    """A transcript that holds our own injected text adds no row with it."""
    done = person.hook("recall", "SessionStart", session_id="fourth-session", source="startup", transcript_path="")
    injected = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    before = ask(hub, "select count(*) from raw_items")
    person.says([*SAID, ("user", injected)])
    person.hook("capture", "Stop")
    assert ask(hub, "select count(*) from raw_items") == before


def test_the_hub_says_it_is_well(hub: Hub) -> None:
    """status exits 0 with every service ok."""
    code, answer = hub.status()
    assert code == 0, answer
    assert {row["status"] for row in answer["services"].values()} == {"ok"}
