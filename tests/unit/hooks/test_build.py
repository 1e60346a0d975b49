"""The two hook files are what their parts make, and start with nothing a start-up cannot afford."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from argus_api.hooks import build

COSTLY = (
    "urllib", "http", "subprocess", "ssl", "hashlib", "argparse", "pathlib", "datetime", "email", "typing", "logging",
    "dataclasses", "asyncio", "tempfile", "shutil", "threading", "socket",
)  # fmt: skip


def test_the_committed_files_are_current() -> None:
    """Whoever edits a part or a parser runs `make hooks`."""
    assert build.stale() == []


@pytest.mark.parametrize("hook", build.HOOKS)
def test_a_hook_carries_the_parsers_word_for_word(hook: str) -> None:
    """Every statement of an embedded module stands in the hook, imports between modules aside."""
    text = (build.FOLDER / f"{hook}.py").read_text("utf-8")
    for path in build.HOOKS[hook]:
        assert build.module_body(path.read_text("utf-8")) in text


def test_two_modules_with_one_name_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook is one namespace: the build names both modules instead of letting one name win."""
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text('"""A part."""\n\nLIMIT = 1\n')
    monkeypatch.setitem(build.HOOKS, "capture_hook", (tmp_path / "one.py", tmp_path / "two.py"))
    with pytest.raises(ValueError, match=r"LIMIT is defined in .*one\.py and in .*two\.py"):
        build.assemble("capture_hook")


@pytest.mark.parametrize("hook", build.HOOKS)
def test_a_hook_imports_little(hook: str) -> None:
    """After its import no costly module is loaded; those come only inside the functions that need them."""
    program = (
        f"import sys;sys.path.insert(0,{str(build.FOLDER)!r});import {hook};"
        f"print([name for name in {COSTLY!r} if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


@pytest.mark.parametrize("hook", build.HOOKS)
def test_a_hook_is_python_3_8_and_standard_library(hook: str) -> None:
    """The grammar of 3.8, and no import from outside the standard library."""
    text = (build.FOLDER / f"{hook}.py").read_text("utf-8")
    namespace: dict[str, object] = {}
    exec(text.split("def load_body", 1)[0], namespace)
    tree = ast.parse(str(namespace["BODY"]), feature_version=(3, 8))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= set(sys.stdlib_module_names) | {"_socket", "_thread"}


@pytest.mark.parametrize("writable", [True, False])
def test_the_compiled_form_is_kept_where_it_can_be(tmp_path: Path, writable: bool) -> None:
    """A second start reads what the first compiled; where nothing can be written both starts work."""
    folder = tmp_path / "bin"
    folder.mkdir()
    path = folder / "recall_hook.py"
    path.write_bytes((build.FOLDER / "recall_hook.py").read_bytes())
    if not writable:
        (folder / "__pycache__").write_text("in the way")
    home = str(tmp_path / "argus")
    environment = {"HOME": str(tmp_path), "ARGUS_HOME": home, "ARGUS_API_URL": "http://127.0.0.1:9"}
    read = []
    for _ in range(2):
        command = [sys.executable, "-v", "-I", "-S", str(path)]
        ended = subprocess.run(command, input=b"{}", capture_output=True, env=environment, check=True)
        assert ended.stdout == b""
        read.append(b"recall_hook.body" in b"".join(line for line in ended.stderr.splitlines() if b"matches" in line))
    assert read == [False, writable]
