"""A person's home for hook tests: Argus' folder, Claude Code's and Codex's, and the hooks run as processes in it."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HOOKS = Path(__file__).resolve().parents[2] / "argus_api" / "hooks"
TOKEN = "capture-token-for-tests"


@dataclass
class Ran:
    code: int
    out: str
    err: str

    @property
    def context(self) -> str:
        return str(json.loads(self.out)["hookSpecificOutput"]["additionalContext"])


@dataclass
class HookHome:
    """`root` is the person's home; `url` where the hooks find Argus."""

    root: Path
    url: str = "http://127.0.0.1:9"
    python: str = sys.executable
    extra: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.argus = self.root / ".argus"
        self.projects = self.root / ".claude" / "projects"
        self.codex = self.root / ".codex" / "sessions"
        self.argus.mkdir(parents=True, exist_ok=True)
        self.write_env()

    def write_env(self, token: str = TOKEN) -> None:
        (self.argus / "env").write_text(f"ARGUS_CAPTURE_TOKEN={token}\n")

    @property
    def environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.root), "PATH": "/usr/bin:/bin", "ARGUS_HOME": str(self.argus), "ARGUS_API_URL": self.url,
            **self.extra,
        }

    def run(
        self, hook: str, stdin: bytes | str | dict[str, Any] | None, *argv: str, cwd: Path | None = None,
        timeout: float = 20.0,
    ) -> Ran:
        data = json.dumps(stdin) if isinstance(stdin, dict) else stdin
        raw = data.encode() if isinstance(data, str) else data or b""
        ended = subprocess.run(
            [self.python, "-I", "-S", str(HOOKS / f"{hook}.py"), *argv],
            input=raw, capture_output=True, env=self.environment, cwd=cwd or self.root, timeout=timeout, check=False,
        )
        return Ran(ended.returncode, ended.stdout.decode(), ended.stderr.decode())

    def capture(self, stdin: bytes | str | dict[str, Any] | None, *argv: str, **more: Any) -> Ran:
        return self.run("capture_hook", stdin, *argv, **more)

    def recall(self, stdin: bytes | str | dict[str, Any] | None, *argv: str, **more: Any) -> Ran:
        return self.run("recall_hook", stdin, *argv, **more)

    @property
    def log(self) -> str:
        path = self.argus / "hook.log"
        return path.read_text() if path.exists() else ""

    def offset(self, session: str) -> dict[str, Any]:
        path = self.argus / "hook-offsets" / f"{session}.offset"
        return dict(json.loads(path.read_text())) if path.exists() else {}

    def session(self, folder: str = "-home-ada-shop", session: str | None = None) -> Session:
        return Session(self, session or str(uuid.uuid4()), self.projects / folder)


@dataclass
class Session:
    """One Claude Code session and its transcript, written as Claude Code writes it."""

    home: HookHome
    id: str
    folder: Path
    cwd: str = "/home/ada/shop"
    count: int = 0

    @property
    def path(self) -> Path:
        return self.folder / f"{self.id}.jsonl"

    def record(self, role: str, text: str, **more: Any) -> dict[str, Any]:
        self.count += 1
        content: Any = text if role == "user" else [{"type": "text", "text": text}]
        message: dict[str, Any] = {"role": role, "content": content}
        if role == "assistant":
            message.update(id=f"msg_{self.id[:4]}_{self.count}", model="claude-test")
        return {
            "type": role, "uuid": str(uuid.uuid4()), "parentUuid": None, "sessionId": self.id, "cwd": self.cwd,
            "timestamp": f"2026-11-30T10:02:{self.count % 60:02d}.000Z", "version": "2.1.0", "isSidechain": False,
            "message": message, **more,
        }

    def write(self, data: bytes) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.write(data)

    def say(self, role: str, text: str, **more: Any) -> dict[str, Any]:
        record = self.record(role, text, **more)
        self.write(json.dumps(record).encode() + b"\n")
        return record

    def talk(self, turns: int, start: int = 1) -> list[str]:
        texts = [f"turn number {number} about the invoice export" for number in range(start, start + turns)]
        for number, text in enumerate(texts):
            self.say("assistant" if number % 2 else "user", text)
        return texts

    def event(self, name: str = "Stop", **more: Any) -> dict[str, Any]:
        return {
            "session_id": self.id, "transcript_path": str(self.path), "cwd": self.cwd, "hook_event_name": name,
            **more,
        }
