"""Tasks with `image`: docker's command line, its end, its absence; with a stand-in that runs the command itself."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from tests.integration.runner.conftest import MakeSpec, Run

# `run` notes its arguments and runs what follows the image; `kill` ends what `run` noted, as the daemon would.
DOCKER = """#!/usr/bin/env python3
import json, os, signal, subprocess, sys
home = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(home, "calls"), "a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
if sys.argv[1] == "run":
    rest = sys.argv[sys.argv.index("sh"):]
    messages = [part.split(":")[0] for part in sys.argv if part.endswith(":/run/argus-task")][0]
    env = {**os.environ, "ARGUS_TASK_MESSAGES": messages + "/messages.jsonl"}
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen(rest, env=env)
    sys.exit(child.wait())
"""


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "docker").write_text(DOCKER)
    (folder / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


def calls(docker: Path) -> list[list[str]]:
    return [json.loads(line) for line in (docker / "calls").read_text().splitlines()]


def test_the_command_runs_in_the_container(run: Run, docker: Path, make_spec: MakeSpec) -> None:
    """The folder is /task, values travel in the environment and not on the command line, messages come back."""
    message = '{"type": "metric", "name": "beds", "value": 4}'
    result = run(f"echo '{message}' >> $ARGUS_TASK_MESSAGES; echo $BEDS", image="garden:1", env={"BEDS": "four"})
    assert (result.outcome, result.stdout_tail, result.metrics) == ("ok", "four\n", {"beds": 4})
    (call,) = calls(docker)
    assert call[:4] == ["run", "--rm", "--name", f"argus-{result.rid}"]
    assert f"{make_spec().folder}:/task" in call
    assert call[call.index("-w") + 1] == "/task"
    assert call[call.index("garden:1") + 1 : -1] == ["sh", "-c"]
    names = [call[at + 1] for at, part in enumerate(call) if part == "-e"]
    assert {"BEDS", "ARGUS_TASK_RID", "ARGUS_MCP_TOKEN"} <= set(names)
    assert not any("=" in name or name == "PATH" for name in names)


def test_a_container_over_its_time_is_killed(run: Run, docker: Path) -> None:
    """`docker kill` ends what a signal to the client does not reach."""
    result = run(
        "sleep 100", image="garden:1", max_runtime=timedelta(seconds=0.5), options={"stop_grace": timedelta(seconds=0.3)}
    )
    assert result.outcome == "timed-out"
    assert ["kill", f"argus-{result.rid}"] in calls(docker)


def test_without_docker_the_run_says_so(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No docker on the PATH is a failed run with the cure, not an exception."""
    monkeypatch.setenv("PATH", str(tmp_path))
    result = run("true", image="garden:1")
    assert (result.outcome, result.exit_code) == ("failed", None)
    assert "needs docker" in (result.reason or "")
