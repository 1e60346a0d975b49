"""Writes capture_hook.py and recall_hook.py from parts/ and the transcript parsers (`make hooks`).

The text of each module goes in as it stands; only its imports of the other modules go, and its `from __future__`
line. `--check` writes nothing and ends with 1 where a file is not current.
"""

from __future__ import annotations

import argparse
import ast
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
TRANSCRIPTS = FOLDER.parent.parent / "argus_memory" / "transcripts"
EMBEDDED = ("common", "claude_text", "claude_code", "codex_text", "codex", "repo", "exclude")

CAPTURE = (
    *(TRANSCRIPTS / f"{name}.py" for name in EMBEDDED),
    *(FOLDER / "parts" / f"{name}.py"
      for name in ("base", "event", "wire", "offsets", "missed", "deliver", "find", "spool", "catchup", "capture")),
)
RECALL = (
    *(TRANSCRIPTS / f"{name}.py" for name in ("common", "repo", "exclude")),
    *(FOLDER / "parts" / f"{name}.py" for name in ("base", "event", "wire", "offsets", "missed", "recall")),
)
HOOKS = {"capture_hook": CAPTURE, "recall_hook": RECALL}

SUMMARY = {
    "capture_hook": "Argus' capture hook: sends what was newly said in a session to Argus.",
    "recall_hook": "Argus' recall hook: gives a session what Argus has on record.",
}
HEADER = '''#!/usr/bin/env python3
"""{summary}

Generated: edit the modules named below, then run `make hooks`. One file, standard library only, Python 3.8 or later.

The program stands in BODY. A script is compiled anew at every start, which would cost twice what all else does:
so this short text reads BODY's compiled form from __pycache__, and Python keeps that as it keeps a module's.
Where the folder is closed to writing, BODY is compiled each time.
"""

BODY = r\'\'\'
from __future__ import annotations
'''
FOOTER = '''\'\'\'


def load_body():
    from _frozen_importlib_external import SourceFileLoader

    class BodyLoader(SourceFileLoader):
        def path_stats(self, path):  # BODY is as old as this file
            return {"mtime": super().path_stats(__file__)["mtime"], "size": len(BODY.encode("utf-8"))}

        def get_data(self, path):
            return BODY.encode("utf-8") if path == self.path else super().get_data(path)

    return BodyLoader("argus_hook", __file__[:-3] + ".body.py").get_code("argus_hook")


exec(load_body(), globals())

if __name__ == "__main__":
    main()
'''
INTERNAL = ("argus_api.", "argus_memory.")


def module_body(source: str) -> str:
    """The module's text without its docstring, its future import and its imports of the modules it stands beside.

    What was only imported for types is left out too: annotations are never evaluated.
    """
    tree = ast.parse(source)
    lines = source.splitlines()
    gone: set[int] = set()
    for number, node in enumerate(tree.body):
        docstring = number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        internal = isinstance(node, ast.ImportFrom) and (
            node.module == "__future__" or (node.module or "").startswith(INTERNAL)
        )
        if docstring or internal or _is_type_checking(node):
            assert node.end_lineno is not None
            gone.update(range(node.lineno, node.end_lineno + 1))
    kept = "\n".join(line for number, line in enumerate(lines, 1) if number not in gone)
    while "\n\n\n\n" in kept:
        kept = kept.replace("\n\n\n\n", "\n\n\n")
    return kept.strip("\n")


def _is_type_checking(node: ast.stmt) -> bool:
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    return isinstance(node, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == "TYPE_CHECKING" for target in node.targets
    )


def defined_names(source: str) -> set[str]:
    """The names a module defines at its top, imports of the standard library aside."""
    found: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found.update(target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found - {"TYPE_CHECKING"}


def assemble(hook: str) -> str:
    """The hook's whole text; raises ValueError when two of its modules define the same name."""
    pieces = [HEADER.format(summary=SUMMARY[hook])]
    owners: dict[str, str] = {}
    for path in HOOKS[hook]:
        source = path.read_text("utf-8")
        name = f"{path.parent.name}/{path.name}"
        for defined in defined_names(source):
            if defined in owners:
                raise ValueError(f"{defined} is defined in {owners[defined]} and in {name}: a hook is one namespace")
            owners[defined] = name
        if "'''" in source:
            raise ValueError(f"{name} holds three single quotes, which end the text that carries it")
        summary = (ast.get_docstring(ast.parse(source)) or "").splitlines()[0]
        pieces.append(f"\n# ==== {name}: {summary}\n\n{module_body(source)}\n")
    return "\n".join(pieces) + FOOTER


def stale() -> list[str]:
    """The hooks whose file is not what their parts make."""
    found = []
    for hook in HOOKS:
        path = FOLDER / f"{hook}.py"
        if not path.exists() or path.read_text("utf-8") != assemble(hook):
            found.append(path.name)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the two hooks from their parts.")
    parser.add_argument("--check", action="store_true", help="only say whether they are current")
    old = stale()
    if parser.parse_args().check:
        if old:
            sys.stderr.write(f"argus: {', '.join(old)} not current; run `make hooks`\n")
        return 1 if old else 0
    for hook in HOOKS:
        (FOLDER / f"{hook}.py").write_text(assemble(hook), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
