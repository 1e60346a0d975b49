"""The hook as a whole process against a bare Python start, in one run: `python benchmarks/hook.py`.

Both are started in turn, so that a busy machine slows both; medians. The server is a stand-in in a process of its
own, and its own time is measured with a bare client and taken off. The hook reads two new turns each time, sends
them and saves its offset, as an ordinary Stop does.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HOOKS = Path(__file__).resolve().parent.parent / "argus_api" / "hooks"
BARE = ["-I", "-S", "-c", "import json, socket"]
ANSWER = b'HTTP/1.1 201 Created\r\nContent-Length: 15\r\nConnection: close\r\n\r\n{"receipts":[]}'
SERVER = f"""
import socket, sys
answer = {ANSWER!r}
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
while True:
    link, _ = server.accept()
    data = b""
    while b"\\r\\n\\r\\n" not in data:
        data += link.recv(65536) or b"\\r\\n\\r\\n"
    head, _, body = data.partition(b"\\r\\n\\r\\n")
    want = next((int(line[15:]) for line in head.split(b"\\r\\n") if line.lower().startswith(b"content-length:")), 0)
    while len(body) < want:
        body += link.recv(65536)
    link.sendall(answer)
    link.close()
"""


class Bench:
    def __init__(self, python: str, folder: Path, port: int) -> None:
        self.python = python
        self.folder = folder
        self.binaries = folder / "bin"
        shutil.copytree(HOOKS, self.binaries, ignore=shutil.ignore_patterns("parts", "build.py", "__*"))
        self.transcript = folder / "0b1f6f0e-1111-4222-8333-444455556666.jsonl"
        self.environment = {
            "HOME": str(folder), "ARGUS_HOME": str(folder / "home"), "ARGUS_API_URL": f"http://127.0.0.1:{port}",
            "ARGUS_CAPTURE_TOKEN": "a-token-for-the-benchmark", "PATH": os.environ["PATH"],
        }
        self.count = 0

    def time(self, argv: list[str], stdin: bytes = b"") -> float:
        """Milliseconds from start to end of the process."""
        began = time.perf_counter()
        subprocess.run([self.python, *argv], input=stdin, env=self.environment, cwd=self.folder, check=True,
                       stdout=subprocess.DEVNULL)
        return (time.perf_counter() - began) * 1000

    def grow(self) -> None:
        """Two more turns in the transcript."""
        self.count += 1
        with self.transcript.open("a") as file:
            for role in ("user", "assistant"):
                text = f"{role} turn {self.count}: " + "the invoice export rounds down " * 20
                record = {
                    "type": role, "uuid": f"{role}-{self.count}", "sessionId": self.transcript.stem,
                    "timestamp": "2026-11-30T10:00:00.000Z", "cwd": str(self.folder),
                    "message": {"role": role, "content": [{"type": "text", "text": text}]},
                }
                file.write(json.dumps(record, separators=(",", ":")) + "\n")

    def event(self, name: str) -> bytes:
        return json.dumps({
            "session_id": self.transcript.stem, "transcript_path": str(self.transcript), "cwd": str(self.folder),
            "hook_event_name": name, "prompt": "how does the invoice export round?",
        }).encode()

    def wired(self, hook: str) -> list[str]:
        return ["-I", "-S", str(self.binaries / f"{hook}.py"), "--target", "claude-code"]


def server_ms(port: int) -> float:
    """Median milliseconds of one request to the stand-in from a client that is already running."""
    times = []
    for _ in range(50):
        began = time.perf_counter()
        with socket.create_connection(("127.0.0.1", port)) as link:
            link.sendall(b"POST /capture HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
            while link.recv(65536):
                pass
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--python", default=getattr(sys, "_base_executable", sys.executable))
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="argus-hook-bench-"))
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        bench = Bench(arguments.python, folder, port)
        figures = measure(bench, arguments.rounds, port)
    finally:
        server.kill()
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(figures) if arguments.json else table(figures, arguments.python))


def measure(bench: Bench, rounds: int, port: int) -> dict[str, float]:
    """Medians in milliseconds, and ratios to the bare start with the server's time taken off."""
    kinds = {
        "bare": (BARE, b""),
        "capture": (bench.wired("capture_hook"), bench.event("Stop")),
        "recall": (bench.wired("recall_hook"), bench.event("UserPromptSubmit")),
    }
    times: dict[str, list[float]] = {name: [] for name in kinds}
    for turn in range(rounds + 2):
        for name, (argv, stdin) in kinds.items():
            if name.startswith("capture"):
                bench.grow()
            took = bench.time(argv, stdin)
            if turn > 1:  # the first ones write the compiled form
                times[name].append(took)
    served = server_ms(port)
    figures = {name: statistics.median(found) for name, found in times.items()}
    figures["server"] = served
    for name in list(kinds)[1:]:
        figures[f"{name} ratio"] = (figures[name] - served) / figures["bare"]
    bench.environment["ARGUS_API_URL"] = "http://127.0.0.1:9"
    bench.grow()
    figures["server down"] = statistics.median(bench.time(*kinds["capture"]) for _ in range(5))
    return figures


def table(figures: dict[str, float], python: str) -> str:
    version = subprocess.run([python, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    lines = [f"{platform.platform()}, {os.cpu_count()} cores, {version}"]
    for name, value in figures.items():
        lines.append(f"{name:28} {value:8.2f}{'' if name.endswith('ratio') else ' ms'}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
