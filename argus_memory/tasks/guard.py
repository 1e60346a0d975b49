"""The small process between the runner and a task: whatever becomes of either, it files how the task ended.

Started by runner_guard.py without site-packages; standard library only, one thread. Its first line of input is the
order (JSON, see Guard); a later line `stop` ends the task, and the end of input means that the runner is gone, which
ends the task too. It answers with JSON lines: {"event": "started", "pid"} and {"event": "ended", …}. The report is in
the file `spool` before that, so that it outlives the runner and the database.

    running ── the task ended ──→ settling (what it left behind may end by itself) ──→ stopping ──→ report
        └── stop, time over, runner gone ─────────────────────────────────────────────↗  SIGTERM, later SIGKILL

The task has a session of its own. On Linux the guard is the subreaper: what forks away from its parent, even into
another session, becomes a child of the guard, which ends it.
"""

import ctypes
import fcntl
import json
import os
import selectors
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from argus_memory.tasks.guard_system import (
    CHUNK,
    LINUX,
    Stream,
    descendants,
    describe_start,
    read_oom_kills,
    send,
    write_spool,
)

LONG = 3600.0  # seconds of one wait at most: epoll takes no more than 24 days
PAUSE = 0.1  # seconds between looks at what does not announce itself: grandchildren
GIVE_UP = 30.0  # seconds of SIGKILL; a process that is stuck in the kernel cannot be waited for
KILL_SECONDS = 20.0  # limit of `docker kill`
VICTIM = 300  # oom_score_adj of a task: the kernel takes it before Argus
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


class Guard:
    """One task from its start to its report.

    order: rid, about (given back in the report), argv, cwd, env, spool (path), lock (path, held while the guard
    lives), max_runtime, grace, settle (seconds), kill_argv (a command that ends what SIGKILL cannot reach) or null.
    """

    def __init__(self, order: dict[str, Any]) -> None:
        self.order = order
        self.process: subprocess.Popen[bytes] | None = None
        self.status: int | None = None  # of waitpid
        self.ended_by: str | None = None
        self.start_error: str | None = None
        self.strays = 0
        self.killed = False
        self.left_alive = 0
        self.streams: dict[str, Stream] = {}
        self.started = time.monotonic()
        self.started_at = time.time()
        self.ended = self.started
        self.oom_before = read_oom_kills()
        self.phase = "running"
        self.phase_ends: float | None = None
        self.selector = selectors.DefaultSelector()

    # --- start -----------------------------------------------------------------------------------------------

    def start(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True) if LINUX else None
        if libc is not None:
            libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

        def prepare() -> None:
            if libc is not None:
                libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # a guard that is killed takes the task along
                try:
                    fd = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
                    os.write(fd, str(VICTIM).encode())
                    os.close(fd)
                except OSError:  # not allowed in some containers; then the kernel chooses by size alone
                    return

        try:
            self.process = subprocess.Popen(  # noqa: S603 — the command is what the operator wrote
                self.order["argv"],
                cwd=self.order["cwd"],
                env=self.order["env"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                preexec_fn=prepare,
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            self.start_error = describe_start(error, self.order["cwd"])
            return
        assert self.process.stdout
        assert self.process.stderr
        for name, pipe in (("stdout", self.process.stdout), ("stderr", self.process.stderr)):
            self.streams[name] = Stream(pipe.fileno())
            self.selector.register(pipe.fileno(), selectors.EVENT_READ, name)
        if self.order.get("max_runtime") is not None:
            self.phase_ends = self.started + self.order["max_runtime"]
        tell({"event": "started", "pid": self.process.pid})

    # --- while it runs ---------------------------------------------------------------------------------------

    def run(self, wakeup: int) -> None:
        """Until the task and everything it started has ended."""
        self.selector.register(wakeup, selectors.EVENT_READ, "wakeup")
        self.selector.register(0, selectors.EVENT_READ, "input")
        while self.process is not None:
            for key, _ in self.selector.select(self._patience()):
                self._take(key.data, int(key.fd))
            self._reap()
            if self._advance():
                break
        for stream in self.streams.values():
            # What is held open by a process out of reach ends nowhere: no more than is there now is taken.
            for _ in range(1024):
                if not stream.read():
                    break

    def _take(self, name: str, fd: int) -> None:
        if name in self.streams:
            stream = self.streams[name]
            stream.read()
            if not stream.open:  # closed by the task, which may go on
                self.selector.unregister(fd)
            return
        try:
            data = os.read(fd, 4096)
        except BlockingIOError:
            return
        if name == "wakeup":
            if any(number in data for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)):
                self.stop("terminated")
        elif not data:
            self.selector.unregister(fd)
            self.stop("runner-gone")
        else:
            self.stop("stopped")

    def _patience(self) -> float:
        if self.phase != "running":
            return PAUSE
        return LONG if self.phase_ends is None else min(LONG, max(0.0, self.phase_ends - time.monotonic()))

    def _reap(self) -> None:
        """Collect whoever ended: the task, and strays that became children of the guard."""
        assert self.process is not None
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.process.pid:
                self.status = status
                self.process.returncode = 0  # collected here; Popen has nothing left to wait for
                self.ended = time.monotonic()

    def _advance(self) -> bool:
        """Move to the next phase where it is time; True when nothing of the task is alive."""
        now = time.monotonic()
        if self.status is not None:
            alive = self._alive()
            if not alive:
                return True
            if self.phase == "running":
                self._enter("settling", now + self.order["settle"])
        if self.phase == "killing":
            self._end_all(signal.SIGKILL)  # again: what was born meanwhile hears of it too
        if self.phase_ends is None or now < self.phase_ends:
            return False
        if self.phase == "running":
            self.stop("max-runtime")
        elif self.phase == "settling":
            self.strays = len(self._alive())
            self._end_all(signal.SIGTERM)
            self._enter("stopping", now + min(self.order["grace"], 5.0))
        elif self.phase == "stopping":
            self.killed = True
            self._end_all(signal.SIGKILL)
            self._run_kill()
            self._enter("killing", now + GIVE_UP)
        else:
            self.left_alive = max(1, len(self._alive()))
            return True
        return False

    def _enter(self, phase: str, ends: float) -> None:
        self.phase, self.phase_ends = phase, ends

    # --- ending ----------------------------------------------------------------------------------------------

    def stop(self, why: str) -> None:
        """Ask everything to end, once; what does not is killed after the grace."""
        if self.phase in ("stopping", "killing") or self.process is None:
            return
        if self.status is None:
            self.ended_by = why
        self._end_all(signal.SIGTERM)
        self._enter("stopping", time.monotonic() + self.order["grace"])

    def _end_all(self, number: int) -> None:
        assert self.process is not None
        if self.status is None or not LINUX:
            send(os.killpg, self.process.pid, number)
        for pid in self._alive():
            send(os.kill, pid, number)
            if number == signal.SIGTERM:
                send(os.kill, pid, signal.SIGCONT)  # one that was stopped cannot hear otherwise

    def _run_kill(self) -> None:
        argv = self.order.get("kill_argv")
        if not argv:
            return
        try:
            subprocess.run(argv, env=self.order["env"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,  # noqa: S603
                           stderr=subprocess.DEVNULL, timeout=KILL_SECONDS, check=False)  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            note(f"{argv[0]} could not be used to end the task: {error}")

    def _alive(self) -> list[int]:
        """Everything the task started that is still there (without Linux: whether its group is)."""
        assert self.process is not None
        if LINUX:
            return [pid for pid in descendants(os.getpid()) if pid != self.process.pid or self.status is None]
        return [self.process.pid] if send(os.killpg, self.process.pid, 0) else []

    # --- the report ------------------------------------------------------------------------------------------

    def report(self) -> dict[str, Any]:
        if self.status is not None and (self.ended_by or os.WIFSIGNALED(self.status)) and not self.killed:
            self._run_kill()  # a container outlives a client that was killed
        exit_code = None if self.status is None else os.waitstatus_to_exitcode(self.status)
        return {
            "event": "ended",
            "about": self.order.get("about", {}),
            "pid": self.process.pid if self.process else None,
            "started_at": self.started_at,
            "seconds": self.ended - self.started,
            "exit_code": exit_code if exit_code is None or exit_code >= 0 else 128 - exit_code,
            "signal": -exit_code if exit_code is not None and exit_code < 0 else None,
            "ended_by": self.ended_by,
            "killed": self.killed,
            "start_error": self.start_error,
            "strays": self.strays,
            "left_alive": self.left_alive,
            "oom_kills": max(0, read_oom_kills() - self.oom_before),
            **{name: stream.report() for name, stream in self.streams.items()},
        }


def tell(message: dict[str, Any]) -> None:
    """One line for the runner; when it is gone there is nobody to tell, and the spool has it."""
    data = json.dumps(message).encode() + b"\n"
    try:
        while data:
            data = data[os.write(1, data) :]
    except OSError:
        note("the runner is gone")


def note(text: str) -> None:
    """To the runner's log, as long as there is one."""
    try:
        os.write(2, f"argus guard: {text}\n".encode())
    except OSError:
        return


def read_order() -> tuple[dict[str, Any], bytes]:
    """(the first line of input, what came behind it already)."""
    data = b""
    while b"\n" not in data and (part := os.read(0, CHUNK)):
        data += part
    line, _, rest = data.partition(b"\n")
    return json.loads(line), rest


def main() -> None:
    wakeup, wake = os.pipe()
    os.set_blocking(wakeup, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    order, rest = read_order()
    lock = os.open(order["lock"], os.O_WRONLY | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    guard = Guard(order)
    guard.start()
    if rest:
        guard.stop("stopped")
    if guard.process is not None:
        guard.run(wakeup)
    report = guard.report()
    try:
        write_spool(Path(order["spool"]), report)
    except OSError as error:  # the disk is full, say: then the whole report goes to the runner
        note(f"the report cannot be kept on disk: {error}")
        tell(report)
    else:
        tell({"event": "ended", "spooled": True})
