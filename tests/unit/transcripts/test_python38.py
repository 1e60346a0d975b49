"""The parsers' text runs in the one-file hook: Python 3.8, standard library only, in one namespace."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import argus_memory.transcripts as package
from tests.unit.transcripts.lines import assistant, header, said, to_bytes, user

FOLDER = Path(package.__file__).parent
SMALL = {"json", "binascii", "os", "fnmatch"}  # each costs a hook's start; typing, re, datetime would cost most


def pythons() -> list[str]:
    """This interpreter, and a Python 3.8 where the machine has one."""
    installed = sorted(Path.home().glob(".pyenv/versions/3.8.*/bin/python3.8"))
    found = str(installed[0]) if installed else shutil.which("python3.8")
    return [sys.executable, *([found] if found else [])]


def sources() -> dict[str, str]:
    return {name: (FOLDER / f"{name}.py").read_text("utf-8") for name in package.EMBEDDED}


def joined() -> str:
    """The modules' text one after another, without the imports of each other."""
    parts = ["from __future__ import annotations"]
    for text in sources().values():
        lines = text.splitlines()
        for node in reversed(ast.parse(text).body):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("__future__", "argus_memory")):
                del lines[node.lineno - 1 : node.end_lineno]
        parts += lines
    return "\n".join(parts)


def test_the_text_is_python_38() -> None:
    """Nothing in it needs a newer grammar."""
    for name, text in sources().items():
        ast.parse(text, filename=name, feature_version=(3, 8))


def test_only_few_small_modules_are_imported() -> None:
    """What is imported when a hook starts is small; typing is named for the type checker alone."""
    for text in sources().values():
        tree = ast.parse(text)
        body = [node for node in tree.body if not isinstance(node, ast.If)]  # `if TYPE_CHECKING:`
        for node in body:
            if isinstance(node, ast.Import):
                assert {alias.name for alias in node.names} <= SMALL
            elif isinstance(node, ast.ImportFrom):
                assert (node.module or "").startswith(
                    ("__future__", "argus_memory.transcripts")
                ) or node.module in SMALL


def test_no_name_is_defined_twice() -> None:
    """The modules share one namespace in the hook, in the order they are listed."""
    seen: dict[str, str] = {}
    for module, text in sources().items():
        for node in ast.parse(text).body:
            names = []
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names = [node.name]
            elif isinstance(node, ast.Assign):
                names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            for name in names:
                assert name == "TYPE_CHECKING" or name not in seen, f"{name} in {module} and {seen[name]}"
                seen[name] = module


@pytest.mark.parametrize("python", pythons())
def test_the_joined_text_reads_transcripts(python: str, tmp_path: Path) -> None:
    """As one file, under the oldest Python too, it reads both programs' transcripts as the modules do."""
    claude = to_bytes(user("gö"), assistant("Gone."), b"{broken", user("<ide_x", uuid="u-2"))
    codex = to_bytes(header(), said("user", "go"), said("assistant", "Gone."))
    (tmp_path / "claude.jsonl").write_bytes(claude)
    (tmp_path / "codex.jsonl").write_bytes(codex)
    (tmp_path / "joined.py").write_text(
        joined()
        + "\nimport sys\nout = []\n"
        + "for parser, name in ((ClaudeCodeParser, 'claude'), (CodexParser, 'codex')):\n"
        + "    reader = parser()\n"
        + "    with open(name + '.jsonl', 'rb') as file:\n"
        + "        out.append([turn.as_dict() for turn in reader.feed(file.read())])\n"
        + "    reader.state()\n"
        + "assert resolve_repo('/nowhere') is None and not excluded('/nowhere', ['x'])\n"
        + "sys.stdout.buffer.write(json.dumps(out, sort_keys=True).encode())\n",
        "utf-8",
    )
    result = subprocess.run([python, "-I", "joined.py"], cwd=tmp_path, capture_output=True, check=False)
    assert result.stderr == b""
    expected = [
        [turn.as_dict() for turn in parser().feed(content)]
        for parser, content in ((package.ClaudeCodeParser, claude), (package.CodexParser, codex))
    ]
    assert json.loads(result.stdout) == expected
