"""`argus up`: the supervisor in the foreground, or detached until `argus down`."""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
from datetime import UTC, datetime
from typing import TextIO

from argus_cli.home import PROJECT_ROOT, Home
from argus_memory.settings import Settings, load_settings
from argus_memory.upkeep.entry import make_code

REPORT_VARIABLE = "ARGUS_REPORT_FD"  # a detached supervisor writes its lines here until it is ready


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--detach", action="store_true", help="go on in the background; returns when everything answers"
    )


def run(arguments: argparse.Namespace) -> int:
    settings = load_settings()
    if arguments.detach:
        return detach(settings)
    return supervise(settings)


def supervise(settings: Settings) -> int:
    from argus_cli.supervisor import Supervisor

    report = _report_stream()

    def say(name: str, text: str) -> None:
        line = f"{name:<10} {text}"
        for stream in (sys.stdout, report):
            # A terminal or reader that went away must not keep the supervisor from its work, the stop least of all.
            with contextlib.suppress(OSError):
                if stream is not None and not stream.closed:
                    print(line, file=stream, flush=True)

    def ready(well: bool) -> None:
        if (link := sign_in_link(settings)) is not None:
            say("pages", f"{link} signs in once, within 10 minutes; after that with ARGUS_ADMIN_TOKEN")
        say("argus", up_line(settings) if well else "partly up: see above; what does not answer is tried on")
        if report is not None:
            with contextlib.suppress(OSError):
                report.close()

    environment = {name: value for name, value in os.environ.items() if name != REPORT_VARIABLE}
    return Supervisor(settings, environment, say=say, ready=ready).run()


def up_line(settings: Settings) -> str:
    return (
        f"is up: http://{settings.api_host}:{settings.api_port} (API, pages under /ui),"
        f" http://127.0.0.1:{settings.dagster_port} (Dagster)"
    )


def sign_in_link(settings: Settings) -> str | None:
    """A link into the pages that works once; None where the home takes no file."""
    try:
        code = make_code(settings.home, now=datetime.now(UTC))
    except OSError:
        return None
    return f"http://{settings.api_host}:{settings.api_port}/ui/enter?code={code}"


def detach(settings: Settings) -> int:
    """Start `argus up` in a session of its own, pass on its lines until it is ready; 0 when everything answers.

    The pipe ends when the supervisor is ready or has ended; its exit code tells the two apart.
    """
    home = Home(settings.home)
    home.make()
    log = home.logs / "supervisor.log"
    read, write = os.pipe()
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "argus_cli.main", "up"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**os.environ, REPORT_VARIABLE: str(write)},
            cwd=PROJECT_ROOT,
            pass_fds=(write,),
            start_new_session=True,
        )
    os.close(write)
    line = ""
    with os.fdopen(read, encoding="utf-8") as lines:
        for line in lines:
            print(line, end="", flush=True)
    if " is up: " in line:
        print(f"argus      runs as process {process.pid}; log: {log}; `argus down` stops it")
        return 0
    if line.startswith("argus ") and "partly up" in line:
        return 1
    code = process.wait()
    said = [text for text in log.read_text("utf-8", "replace").splitlines() if text.startswith("argus: ")]
    print(said[-1] if said else f"argus: the supervisor ended with code {code}: see {log}", file=sys.stderr)
    return code if code in (1, 2, 3) else 3


def _report_stream() -> TextIO | None:
    descriptor = os.environ.get(REPORT_VARIABLE, "")
    if not descriptor.isdigit():
        return None
    os.set_inheritable(int(descriptor), False)
    return os.fdopen(int(descriptor), "w", encoding="utf-8")
