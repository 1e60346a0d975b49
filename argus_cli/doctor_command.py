"""`argus doctor`: everything that can be wrong, asked once, and the wiring tried as a client would.

Exit 0: all well or only hints; 1: something is to be mended; 3: something that is needed cannot be reached.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator

from argus_cli import doctor_around, doctor_client, doctor_hub, doctor_machine, doctor_transcripts
from argus_cli.findings import Finding, as_json, as_text, collect, count_words, exit_code
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
        print(count_words(findings))
    return exit_code(findings)


def examine(settings: Settings) -> list[Finding]:
    running = hub_runs(settings)
    return collect(
        (
            ("platform", doctor_machine.check_machine),
            ("versions", doctor_machine.check_versions),
            ("disk", lambda: doctor_machine.check_disk(settings)),
            ("clock", doctor_machine.check_clock),
            ("zone", lambda: doctor_around.check_zone(settings)),
            ("ports", lambda: doctor_machine.check_ports(settings, running)),
            ("files", lambda: doctor_machine.check_files(settings)),
            ("database", lambda: doctor_hub.check_database(settings)),
            ("hooks", lambda: check_hooks(settings)),
            ("transcripts", lambda: doctor_transcripts.check_transcripts(settings, dict(os.environ))),
            ("engines", lambda: doctor_around.check_engines(settings)),
            ("tasks", lambda: doctor_around.check_tasks(settings)),
            ("telegram", lambda: doctor_around.check_telegram(settings)),
            ("api", lambda: doctor_hub.check_health(settings, running)),
            ("tokens at the API", lambda: doctor_client.check_tokens(settings, running)),
            ("capture → search", lambda: doctor_client.check_round_trip(settings, running)),
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
    """A state of hooks_status → the finding's status: hooks that are wired and do not work lose what is said."""
    if state == "missing":
        return "unknown" if any_wired else "warn"
    return "ok" if state == "wired" else "failed"
