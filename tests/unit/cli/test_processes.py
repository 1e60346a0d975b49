"""Small processes of our own: what the guard ends, what a managed service tells, which port counts as free."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from argus_cli import guard
from argus_cli.guard_client import Guard
from argus_cli.managed_process import ManagedProcess
from argus_cli.ports import find_free_port, port_answers, port_is_free
from argus_cli.wakeups import Wakeups
from tests.helpers import wait_until

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]
DEAF = [
    sys.executable, "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)",
]  # fmt: skip


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[bytes]]]:
    processes: list[subprocess.Popen[bytes]] = []
    yield processes
    for process in processes:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def group(argv: list[str], started: list[subprocess.Popen[bytes]], pipe: bool = False) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(argv, process_group=0, stdout=subprocess.PIPE if pipe else None)
    started.append(process)
    return process


def test_the_guard_remembers_what_it_was_told() -> None:
    """A group that was forgotten is not ended; broken lines are passed over."""
    assert guard.read_groups(["+10 15\n", "+11 2\n", "nonsense\n", "-10\n", "\n"]) == {11: 2}


def test_the_guard_ends_deaf_groups_by_force(started: list[subprocess.Popen[bytes]]) -> None:
    """SIGTERM first; what ignores it is killed after the grace."""
    polite, deaf = group(SLEEP, started), group(DEAF, started, pipe=True)
    assert deaf.stdout is not None
    deaf.stdout.readline()
    guard.end_groups({polite.pid: signal.SIGTERM, deaf.pid: signal.SIGTERM}, grace=0.3)
    assert polite.wait(5) == -signal.SIGTERM
    assert deaf.wait(5) == -signal.SIGKILL


def test_the_guard_acts_when_its_supervisor_is_killed(started: list[subprocess.Popen[bytes]]) -> None:
    """The end of the pipe, however it comes, ends the watched group and then the guard."""
    child = group(SLEEP, started)
    code = (
        "import sys, os, signal; from argus_cli.guard_client import Guard\n"
        "g = Guard(); g.start(); g.watch(int(sys.argv[1]), signal.SIGTERM); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(child.pid)], check=False).returncode == -signal.SIGKILL
    assert child.wait(5) == -signal.SIGTERM


def test_a_dead_guard_is_started_again_with_all_its_groups(started: list[subprocess.Popen[bytes]]) -> None:
    """Killing the guard ends no service, and its successor knows the groups."""
    child = group(SLEEP, started)
    client = Guard()
    client.start()
    client.watch(child.pid, signal.SIGTERM)
    first = client.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: client._process is not None and client._process.poll() is not None)
    client.keep_alive()
    assert client.pid != first
    assert child.poll() is None
    assert client._process is not None
    assert client._process.stdin is not None
    client._process.stdin.close()  # as if the supervisor were gone
    assert child.wait(5) == -signal.SIGTERM
    client._process.wait(10)


def managed(argv: list[str], tmp_path: Path) -> tuple[ManagedProcess, list[str]]:
    told: list[str] = []
    process = ManagedProcess(
        "api", argv, dict(os.environ), tmp_path / "api.log",
        watch=lambda pid, number: told.append(f"+{pid} {int(number)}"), forget=lambda pid: told.append(f"-{pid}"),
    )  # fmt: skip
    return process, told


def test_a_death_is_told_with_its_last_line_and_a_pause(tmp_path: Path) -> None:
    """The sentence has the exit code, the pause and what the log said last; the second death waits longer."""
    process, _ = managed([sys.executable, "-c", "raise SystemExit('no such module')"], tmp_path)
    for pause in ("1 s", "2 s"):
        process.start()
        wait_until(lambda: not process.is_running())
        assert process.note_death() == f"ended with code 1, starts again in {pause} (no such module)"
        assert process.start_at is not None
        assert process.start_at > time.monotonic()
    assert process.restarts == 2


def test_a_service_is_gone_only_with_its_grandchildren(tmp_path: Path) -> None:
    """A grandchild that outlives the service keeps its group, and the guard is told when it is empty."""
    code = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])"
    process, told = managed([sys.executable, "-c", code], tmp_path)
    process.start()
    pid = process.pid
    wait_until(lambda: not process.is_running())
    process.note_death()
    process.forget_empty_groups()
    assert told == [f"+{pid} {int(signal.SIGTERM)}"]
    assert not process.is_gone()
    process.signal_groups(signal.SIGKILL)
    wait_until(process.is_gone)
    process.forget_empty_groups()
    assert told[-1] == f"-{pid}"


def test_children_die_with_their_parent(tmp_path: Path) -> None:
    """On Linux a service ends at once when its supervisor is killed, also without the guard."""
    if sys.platform != "linux":
        pytest.skip("the kernel's parent-death signal is Linux's; elsewhere the guard does it alone")
    code = (
        "import os, signal, sys; from pathlib import Path; from argus_cli.managed_process import ManagedProcess\n"
        "p = ManagedProcess('x', [sys.executable, '-c', 'import time; time.sleep(60)'], dict(os.environ),"
        " Path(sys.argv[1]), watch=lambda *a: None, forget=lambda *a: None)\n"
        "p.start(); print(p.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "x.log")], capture_output=True, check=False)
    pid = int(done.stdout)
    wait_until(lambda: not runs(pid), seconds=5)


def runs(pid: int) -> bool:
    """Whether the process lives; a zombie that pid 1 has not reaped yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_port_with_a_listener_is_not_free() -> None:
    """Also where the listener shares its port (SO_REUSEPORT), as a code server does."""
    port = find_free_port()
    assert port_is_free(port)
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen()
        assert not port_is_free(port)
        assert port_answers(port, "0.0.0.0")
    assert not port_answers(port)


def test_a_signal_ends_a_wait_at_once_and_counts_as_a_stop() -> None:
    """SIGTERM and SIGINT are counted, SIGCHLD only wakes; afterwards the old handlers are back."""
    before = signal.getsignal(signal.SIGTERM)
    with Wakeups() as wakeups:
        begun = time.monotonic()
        os.kill(os.getpid(), signal.SIGCHLD)
        wakeups.wait(10)
        assert wakeups.stop_requests == 0
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
        wakeups.wait(10)
        assert wakeups.stop_requests == 2
        assert time.monotonic() - begun < 5
        wakeups.wait(0.01)
    assert signal.getsignal(signal.SIGTERM) is before


def test_nohup_is_respected() -> None:
    """A hang-up that the caller chose to ignore stays ignored; otherwise it stops the hub."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Wakeups() as wakeups:
            os.kill(os.getpid(), signal.SIGHUP)
            wakeups.wait(0.05)
            assert wakeups.stop_requests == 0
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        with Wakeups() as wakeups:
            os.kill(os.getpid(), signal.SIGHUP)
            wakeups.wait(10)
            assert wakeups.stop_requests == 1
    finally:
        signal.signal(signal.SIGHUP, before)
