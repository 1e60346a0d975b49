"""`argus hooks install|uninstall|status`: the capture and recall hooks of Claude Code and Codex.

Exit codes: 0 done (status: all well), 1 status found something to look at, 2 refused, 3 a file cannot be written.
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from argus_cli.hooks_files import copy_hooks, hooks_source, notify_file, remove_hooks, settings_file
from argus_cli.hooks_notify import unwire_notify, wire_notify
from argus_cli.hooks_python import check_python, find_python
from argus_cli.hooks_record import Document, Records, read_document, write_document
from argus_cli.hooks_status import find_status, print_status
from argus_cli.hooks_wiring import TARGETS, Target, hook_words, unwire, wanted, wanted_http, wire
from argus_memory.errors import UsageError
from argus_memory.settings import Settings, load_settings

TRUST = (
    "Codex runs a new or changed hook only after you approve it: start `codex`, open /hooks and choose to trust"
    " them. Until then they are passed over in silence; `argus hooks status` shows whether one has run."
)
EXPORT = (
    "The sessions must know the token: put `export ARGUS_CAPTURE_TOKEN=…` (its value stands in {file}) into your"
    " shell's profile. Without it every call is refused, and `argus hooks status` shows no heartbeat."
)


@dataclass(frozen=True, slots=True)
class Edit:
    """One file's change, not yet made."""

    document: Document
    text: str | None  # None: no file

    @property
    def changes(self) -> bool:
        return self.text is None or self.document.encode(self.text) != self.document.raw


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("install", "uninstall", "status"))
    parser.add_argument("--target", choices=TARGETS, help="whose hooks (status: both when not given)")
    parser.add_argument("--dry-run", action="store_true", help="print the difference; change nothing")
    parser.add_argument("--python", type=Path, metavar="PATH", help="the Python 3.8+ the hooks run under")
    parser.add_argument("--http", action="store_true", help="Claude Code: call the API instead of starting a process")
    parser.add_argument("--notify", action="store_true", help="Codex: capture by `notify`, which needs no approval")


def run(arguments: argparse.Namespace) -> int:
    settings = load_settings()
    if arguments.action == "status":
        found = [find_status(target, settings) for target in TARGETS if arguments.target in (None, target)]
        if arguments.json:
            print(json.dumps([status.as_dict() for status in found]))
        else:
            print_status(found)
        # Asked about both, the one that was never wanted is nothing to look at.
        judged = [status for status in found if arguments.target or status.state != "missing"]
        return 0 if judged and all(status.state == "wired" for status in judged) else 1
    if arguments.target is None:
        raise UsageError(f"`argus hooks {arguments.action}` needs --target claude-code or --target codex")
    if arguments.notify and arguments.target != "codex":
        raise UsageError("--notify is Codex's; leave it out for Claude Code")
    if arguments.http and arguments.target != "claude-code":
        raise UsageError("--http is Claude Code's: Codex runs commands only")
    return (install if arguments.action == "install" else uninstall)(arguments, settings)


def install(arguments: argparse.Namespace, settings: Settings) -> int:
    python = (arguments.python or find_python()).expanduser().absolute()
    check_python(python)
    target: Target = arguments.target
    home = settings.home if settings.home != Path("~/.argus").expanduser() else None
    folder = settings.home / "bin"
    if arguments.notify:
        document = read_document(notify_file())
        command = hook_words(python, folder, "capture_hook", target, home)
        edit = Edit(document, wire_notify(document.text, command, str(document.path)))
        plain: Callable[[str, str], str] = unwire_notify
    else:
        document = read_document(settings_file(target))
        wires = wanted(target, python, folder, home)
        if arguments.http:
            wires = wanted_http(target, python, folder, home, api_url(settings))
        edit = Edit(document, wire(document.text, wires, str(document.path)))
        plain = unwire
    if not arguments.dry_run:
        copied = copy_hooks(hooks_source(), folder, python)
        apply_install(edit, Records(settings.home), plain)
    else:
        copied = []
    tell(arguments, [edit], copied, "installed")
    if target == "codex" and not arguments.notify and not arguments.json:
        print(TRUST)
    if arguments.http and not arguments.json:
        print(EXPORT.format(file=settings.home / "env"))
    return 0


def api_url(settings: Settings) -> str:
    """Where the session finds the API. Raises UsageError for another machine's, which cannot read the transcripts."""
    url = settings.api_url.rstrip("/")
    if urlsplit(url).hostname not in ("127.0.0.1", "localhost", "::1"):
        raise UsageError(f"--http needs the API on this machine, and ARGUS_API_URL is {url}: install without --http")
    return url


def apply_install(edit: Edit, records: Records, plain: Callable[[str, str], str]) -> None:
    """Write the change, and remember what taking it back must restore: the bytes before, when the file was as we
    or nobody had left it; else what is there now without our entries."""
    if not edit.changes:
        return
    assert edit.text is not None
    document = edit.document
    ours, before = records.original(document)
    if not ours:
        bare = plain(document.text, str(document.path))
        before = document.raw if bare == document.text else document.encode(bare)
    written = document.encode(edit.text)
    write_document(document.path, written)
    records.keep(document, before, written)


def uninstall(arguments: argparse.Namespace, settings: Settings) -> int:
    target: Target = arguments.target
    records = Records(settings.home)
    paths: list[tuple[Path, Callable[[str, str], str]]] = [(settings_file(target), unwire)]
    if target == "codex":
        paths.append((notify_file(), unwire_notify))
    edits = []
    for path, plain in paths:
        document = read_document(path)
        if document.raw is None:
            records.forget(document)
            continue
        ours, before = records.original(document)
        if ours:
            edit = Edit(document, None if before is None else before.decode().removeprefix(document.mark))
        else:
            edit = Edit(document, plain(document.text, str(path)))
        edits.append(edit)
        if not arguments.dry_run:
            if edit.changes:
                write_document(path, None if edit.text is None else document.encode(edit.text))
            records.forget(document)
    others = any(find_status(other, settings).entries for other in TARGETS)
    removed = [] if arguments.dry_run or others else remove_hooks(settings.home / "bin")
    tell(arguments, edits, removed, "removed")
    return 0


def tell(arguments: argparse.Namespace, edits: list[Edit], files: list[Path], verb: str) -> None:
    changed = [edit for edit in edits if edit.changes]
    if arguments.json:
        print(json.dumps({
            "target": arguments.target,
            "dry_run": arguments.dry_run,
            "changed": [str(edit.document.path) for edit in changed],
            "files": [str(path) for path in files],
            "diff": "".join(diff_of(edit) for edit in changed),
        }))  # fmt: skip
        return
    if arguments.dry_run:
        sys.stdout.write("".join(diff_of(edit) for edit in changed) or "nothing would change\n")
        return
    for edit in changed:
        print(f"{edit.document.path}: hooks {verb}")
    for path in files:
        print(f"{path}: {verb}")
    if not changed and not files:
        print(f"nothing to do: the hooks of {arguments.target} are {verb} already")


def diff_of(edit: Edit) -> str:
    """The change as a unified diff; a last line without its newline says so, as `diff` does."""
    name = str(edit.document.path)
    before = edit.document.text.splitlines(keepends=True)
    after = (edit.text or "").splitlines(keepends=True)
    lines = difflib.unified_diff(
        before, after,
        "/dev/null" if edit.document.raw is None else name, "/dev/null" if edit.text is None else name,
    )  # fmt: skip
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
