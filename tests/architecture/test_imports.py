"""Imports run one way, faces stay apart, and the heavy libraries stay inside the functions that use them."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Each layer may import itself and what stands before it.
LAYERS = [
    {"argus_memory.records", "argus_memory.errors", "argus_memory.option_values", "argus_memory.settings"},
    {"argus_memory.rules", "argus_memory.transcripts"},
    {"argus_memory.db", "argus_memory.models", "argus_memory.content", "argus_memory.migrate"},
    {"argus_memory.stages"},
    {"argus_memory.upkeep", "argus_memory.watch", "argus_memory.tasks"},
    {"argus_assets", "argus_api", "argus_cli"},
]
FACES = {"argus_assets", "argus_api", "argus_cli"}
HEAVY = {"litellm", "great_expectations", "pandas"}


def sources() -> list[Path]:
    folders = ("argus_memory", "argus_assets", "argus_api", "argus_cli")
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def layer_of(module: str) -> int | None:
    for number, layer in enumerate(LAYERS):
        if any(module == name or module.startswith(name + ".") for name in layer):
            return number
    return None


def test_imports_run_one_way() -> None:
    """No module imports from a layer above its own."""
    wrong = []
    for path in sources():
        own = layer_of(module_of(path))
        if own is None:
            continue
        for name in imported(ast.parse(path.read_text())):
            other = layer_of(name)
            if other is not None and other > own:
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert not wrong


def test_faces_do_not_import_each_other() -> None:
    """Dagster, HTTP and command line share code only through argus_memory."""
    wrong = []
    for path in sources():
        face = module_of(path).split(".")[0]
        for name in imported(ast.parse(path.read_text())):
            other = name.split(".")[0]
            if face in FACES and other in FACES and other != face:
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert not wrong


def test_memory_and_api_know_neither_dagster_nor_each_others_frameworks() -> None:
    """argus_memory imports neither dagster nor fastapi; argus_api never imports dagster, not even lazily."""
    wrong = []
    for path in sources():
        face = module_of(path).split(".")[0]
        banned = {"argus_memory": {"dagster", "fastapi"}, "argus_api": {"dagster"}}.get(face, set())
        for name in imported(ast.parse(path.read_text())):
            if name.split(".")[0].split("_")[0] in banned:
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert not wrong


def test_heavy_libraries_are_imported_where_they_are_used() -> None:
    """litellm, great_expectations and pandas are never imported at the top of a module."""
    wrong = []
    for path in sources():
        for node in ast.parse(path.read_text()).body:
            if imported(node) and not isinstance(node, ast.FunctionDef | ast.ClassDef):
                wrong += [
                    f"{path.relative_to(ROOT)} imports {name}"
                    for name in imported(node)
                    if name.split(".")[0] in HEAVY
                ]
    assert not wrong


def test_every_query_is_used_and_every_use_exists() -> None:
    """Each named query is reached somewhere in the code, so that no dead SQL stays behind."""
    from argus_memory.db import queries

    text = "\n".join(path.read_text() for path in sources())
    unused = [
        f"{file.stem}.{name}"
        for file in sorted((ROOT / "argus_memory" / "sql").glob("*.sql"))
        for name in queries(file.stem)
        if f".{name}" not in text
    ]
    assert not unused
