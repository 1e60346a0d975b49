"""`argus doctor`: everything that can be wrong, asked once; exit 0 well, 1 something to look at, 3 a failure."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator

from argus_cli import doctor_hub, doctor_machine
from argus_cli.findings import Finding, as_json, as_text, collect, exit_code
from argus_cli.hub import hub_runs
from argus_memory.settings import Settings, load_settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    return None


def run(arguments: argparse.Namespace) -> int:
    findings = examine(load_settings())
    if arguments.json:
        print(json.dumps(as_json(findings)))
    else:
        for finding in findings:
            print(as_text(finding))
    return exit_code(findings)


def examine(settings: Settings) -> list[Finding]:
    running = hub_runs(settings)
    return collect(
        (
            ("platform", doctor_machine.check_machine),
            ("versions", doctor_machine.check_versions),
            ("disk", lambda: doctor_machine.check_disk(settings)),
            ("clock", doctor_machine.check_clock),
            ("ports", lambda: doctor_machine.check_ports(settings, running)),
            ("files", lambda: doctor_machine.check_files(settings)),
            ("database", lambda: doctor_hub.check_database(settings)),
            ("hooks", lambda: check_hooks(settings)),
            ("transcripts", lambda: doctor_machine.check_transcripts(dict(os.environ))),
            ("api", lambda: doctor_hub.check_health(settings, running)),
            ("capture → search", lambda: doctor_hub.check_round_trip(settings, running)),
        )
    )


def check_hooks(settings: Settings) -> Iterator[Finding]:
    """Both targets; one that was never wired is a warning only where nothing is."""
    from argus_cli.hooks_status import find_status
    from argus_cli.hooks_wiring import TARGETS

    found = [find_status(target, settings) for target in TARGETS]
    any_wired = any(status.entries for status in found)
    for status in found:
        problem = status.problems[0] if status.problems else f"wired in {status.file}"
        yield Finding(f"hooks {status.target}", judge_hooks(status.state, any_wired), problem)


def judge_hooks(state: str, any_wired: bool) -> str:
    """A state of hooks_status → the finding's status."""
    if state == "missing":
        return "unknown" if any_wired else "warn"
    return "ok" if state == "wired" else "warn"
