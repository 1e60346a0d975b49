"""The `argus` command: one table of commands, each a small module imported only when it is called.

To add a command: a module `argus_cli/<x>_command.py` with `add_arguments(parser)` and `run(arguments) -> int`, and a
row in COMMANDS. `run` returns the exit code and raises ArgusError for what it refuses; the frame prints the
sentence. `json=True` gives the command `--json` (`arguments.json`).

Exit codes: 0 done, 1 done with something to look at, 2 wrong use or refused, 3 could not reach what it needs.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells count
EXIT_UNEXPECTED = 1


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    module: str  # below argus_cli
    help: str
    json: bool = False


COMMANDS: tuple[Command, ...] = (
    Command("up", "up_command", "start everything and watch over it; Ctrl+C stops all of it"),
    Command("down", "down_command", "stop a running Argus and wait until it is gone"),
    Command("status", "status_command", "what runs and how it is (exit 0 well, 1 degraded, 3 down)", json=True),
    Command("doctor", "doctor_command", "check this machine, the home and the running hub", json=True),
    Command("dsn", "dsn_command", "print the database's address, password included", json=True),
    Command("import", "import_command", "bring transcripts of Claude Code and Codex into memory", json=True),
    Command("process", "process_command", "work off what waits: segment, distill, embed, dedup", json=True),
    Command("regenerate", "regenerate_command", "make the notes of some days anew from what was said", json=True),
    Command("note", "note_command", "one note: show, history, pin, forget, restore, correct, redact …", json=True),
    Command("remember", "remember_command", "note a fact as you say it", json=True),
    Command("redact", "redact_command", "take a captured item, or words in it, out of the whole store", json=True),
    Command("forget", "forget_command", "undo a whole arrival: a source, session, project or time", json=True),
    Command("review", "review_command", "merges and decisions that wait for a person, or to take back", json=True),
    Command("project", "project_command", "projects: list, show, rename, merge, other names, assign", json=True),
    Command("memory", "memory_command", "its health, fading notes, use of what was shown, graph", json=True),
    Command("before-you-try", "before_you_try_command", "procedures and dead ends on record about a plan", json=True),
    Command("todo", "todo_command", "to-dos noticed in memory, and the evidence that settles them", json=True),
    Command("backup", "backup_command", "dump the memory, prove it by restoring it, rotate old ones", json=True),
    Command("restore", "restore_command", "make a backup the memory of this home", json=True),
    Command("task", "task_command", "the recurring tasks: list, check, new, run, pause, import, export", json=True),
    Command("reload", "reload_command", "take up changes of tasks/config.ini and code without a restart", json=True),
    Command("alerts", "alerts_command", "what is wrong now; snooze or close an alert", json=True),
    Command("deliveries", "deliveries_command", "messages and what became of them; retry, send a test", json=True),
    Command("digest", "digest_command", "write today's digest into the outbox, or print it", json=True),
    Command("service", "service_command", "start Argus at log-in and after a reboot"),
    Command("hooks", "hooks_command", "wire the capture and recall hooks into Claude Code or Codex", json=True),
    Command("mcp", "mcp_command", "what to paste so that agents find Argus over MCP", json=True),
    Command("recall", "recall_command", "what a session would be given about a question, with sources", json=True),
    Command("timeline", "timeline_command", "what happened to notes, newest first", json=True),
    Command("diff", "diff_command", "what changed about a subject between two days", json=True),
    Command("search", "search_command", "find notes and verbatim turns", json=True),
    Command("bench", "bench_command", "measure one of the figures in benchmarks/README.md on this machine"),
)


def build_parser(called: str | None) -> argparse.ArgumentParser:
    """The parser; only the command that is called has its module imported and its arguments added."""
    parser = argparse.ArgumentParser(
        prog="argus",
        description="Self-hosted memory and task control plane for work with Claude Code, Codex and Telegram.",
        epilog="`argus COMMAND --help` tells more. Settings: docs/options.md.",
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help="tracebacks with errors")
    parser.add_argument("--debug", action="store_true", default=False, help="tracebacks with errors")
    parser.add_argument("--version", action="store_true", help="print the version")
    rows = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for command in COMMANDS:
        row = rows.add_parser(command.name, help=command.help, description=command.help, parents=[common])
        if command.name == called:
            if command.json:
                row.add_argument("--json", action="store_true", help="machine-readable output")
            load(command).add_arguments(row)
    return parser


def load(command: Command) -> ModuleType:
    return importlib.import_module(f"argus_cli.{command.module}")


def find_called(argv: Sequence[str]) -> Command | None:
    """The row of the first word that is not an option; None for help, no word or an unknown one."""
    word = next((part for part in argv if not part.startswith("-")), None)
    return next((command for command in COMMANDS if command.name == word), None)


def main(argv: Sequence[str] | None = None) -> int:
    """Parse, call, and turn errors into one sentence on stderr and an exit code."""
    arguments_given = list(sys.argv[1:] if argv is None else argv)
    called = find_called(arguments_given)
    parser = build_parser(called.name if called else None)
    arguments = parser.parse_args(arguments_given)
    if arguments.version:
        print(version())
        return 0
    if called is None:
        parser.print_help()
        return 0
    return call(called, arguments)


def call(command: Command, arguments: argparse.Namespace) -> int:
    from argus_memory.errors import ArgusError

    try:
        return int(load(command).run(arguments))
    except ArgusError as error:
        if arguments.debug:
            raise
        print(f"argus: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) is gone: say nothing, also not when the interpreter flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if arguments.debug:
            raise
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        print(
            f"argus: `{command.name}` met something unexpected ({type(error).__name__}: {reason});"
            " --debug shows where",
            file=sys.stderr,
        )
        return EXIT_UNEXPECTED


def version() -> str:
    from importlib.metadata import version as installed

    return f"argus {installed('argus')}"


def entry() -> None:
    sys.exit(main())


if __name__ == "__main__":
    entry()
