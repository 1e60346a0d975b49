"""From the files of a run to its rows: what the task said, and how it ended.

The runner does this while it lives; `close_orphans` does the same from the same files when the runner died or the
database was away. Every step can be done twice: deliveries have keys, and a run is closed once.
"""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from psycopg.types.json import Jsonb

from argus_memory.db import Database, queries
from argus_memory.records import TaskSpec
from argus_memory.settings import Settings
from argus_memory.tasks.messages import MessageFile, Told
from argus_memory.tasks.outcomes import judge_end
from argus_memory.tasks.runner_env import RunPlace, own_secrets
from argus_memory.tasks.runs_tell import Policy
from argus_memory.tasks.runs_write import RunEnd, RunFinished, finish_run
from argus_memory.tasks.spec_json import read_secrets, read_spec
from argus_memory.tasks.tails import OUTPUT_MAX, Masker
from argus_memory.watch.alerts import put_delivery

LAST_WORDS_MAX = 300  # characters of a reason: it heads an alert


@dataclass(slots=True)
class RunFiles:
    """The messages of one run, and how far they have been filed."""

    place: RunPlace
    task: str
    started_at: datetime
    spec: TaskSpec | None
    messages: MessageFile
    secrets: tuple[str, ...] = ()  # what the stanza took from the hub's variables
    delivered: int = 0

    @classmethod
    def open(
        cls, place: RunPlace, task: str, started_at: datetime, spec: TaskSpec | None = None,
        secrets: tuple[str, ...] = (),
    ) -> RunFiles:  # fmt: skip
        """`spec` and `secrets` are read from the run's folder unless a spec is given."""
        if spec is None:
            with suppress(OSError, ValueError, TypeError):  # gone with its folder: the policy in force is taken
                spec = read_spec(place.spec)
                secrets = read_secrets(place.spec)
        return cls(place, task, started_at, spec, MessageFile(place.messages), secrets)

    def masker(self, settings: Settings) -> Masker:
        """One that knows this installation's secrets, the stanza's, and what the stanza took from the hub."""
        return Masker((*own_secrets(settings, self.spec), *self.secrets))

    @property
    def policy(self) -> Policy | None:
        return None if self.spec is None else Policy(self.spec.channel, self.spec.failures_before_alert)


def file_messages(db: Database, settings: Settings, files: RunFiles, *, now: datetime, last: bool = False) -> None:
    """Apply the lines that were written since: deliveries into the outbox, the rest onto the run's row.

    Raises Unreachable without a database; what was read stays, and is applied the next time.
    """
    fresh = files.messages.read(last=last)
    told = files.messages.told
    if not fresh and files.delivered == len(told.deliveries):
        return
    mask = files.masker(settings)
    rid = files.place.rid
    channel = files.spec.channel if files.spec else None
    with db.transaction() as conn:
        for each in told.deliveries[files.delivered :]:
            put_delivery(
                conn,
                key=f"task:{files.task}:{mask.key(each.key)}" if each.key else f"{rid}:{each.number}",
                kind="deliver",
                channel=mask.text(each.channel or channel or settings.alert_channel),
                title=mask.text(each.title or files.task),
                body=mask.text(each.text),
                link=mask.text(each.link) if each.link else None,
                task=files.task,
                rid=rid,
                now=now,
            )
        values = _said(told, mask)
        conn.execute(queries("runs").note_run, {
            "rid": rid,
            "output": None if values["output"] is None else Jsonb(values["output"]),
            "metrics": Jsonb(values["metrics"]) if values["metrics"] else None,
            "cost_usd": values["cost_usd"],
            "engine": values["engine"],
        })  # fmt: skip
    files.delivered = len(told.deliveries)


def make_end(settings: Settings, files: RunFiles, report: Mapping[str, Any]) -> RunEnd:
    """How the run ended, from the guard's report and what the task said. Reads no clock: the guard measured."""
    told = files.messages.told
    mask = files.masker(settings)
    outcome, reason = judge_end(
        report, skip=told.skip, max_runtime=files.spec.max_runtime if files.spec else None
    )
    streams = {}
    for name in ("stdout", "stderr"):
        stream = report.get(name) or {"bytes": 0, "tail": ""}
        streams[name] = (mask.tail(base64.b64decode(stream["tail"]), stream["bytes"]), int(stream["bytes"]))
    own = _last_words(files.spec, outcome, report.get("exit_code"), streams["stderr"][0])
    notes = [own or reason, _describe_engine_errors(told), told.describe_problems()]
    said = _said(told, mask)
    summary = mask.text(told.summary) if told.summary else None
    text = "; ".join(mask.text(note) for note in notes if note)
    return RunEnd(
        outcome=outcome,
        finished_at=files.started_at + timedelta(seconds=max(0.0, float(report.get("seconds") or 0.0))),
        exit_code=report.get("exit_code"),
        signal=report.get("signal"),
        reason=text or None,
        stdout_tail=streams["stdout"][0],
        stdout_bytes=streams["stdout"][1],
        stderr_tail=streams["stderr"][0],
        stderr_bytes=streams["stderr"][1],
        summary=summary,
        redactions=mask.counts,
        **said,
    )


def _last_words(spec: TaskSpec | None, outcome: str, exit_code: int | None, stderr: str) -> str | None:
    """What Argus's own handlers say last when they fail: a sentence, where a script may print anything."""
    if spec is None or spec.handler == "code" or outcome != "failed" or not exit_code:
        return None
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    return lines[-1][:LAST_WORDS_MAX] if lines else None


def file_end(
    db: Database, settings: Settings, files: RunFiles, end: RunEnd, *, now: datetime, by: str = "runner"
) -> RunFinished:
    """Apply what is left of the messages and close the run; then its files are not needed any more."""
    file_messages(db, settings, files, now=now, last=True)
    finished = finish_run(db, settings, files.place.rid, end, now=now, policy=files.policy, by=by)
    remove_files(files.place)
    return finished


def remove_files(place: RunPlace) -> None:
    place.spool.unlink(missing_ok=True)
    shutil.rmtree(place.folder, ignore_errors=True)


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """For this user only, whole or not at all."""
    part = path.with_suffix(".part")
    part.touch(0o600)
    part.write_text(json.dumps(value), encoding="utf-8")
    part.replace(path)


def _said(told: Told, mask: Masker) -> dict[str, Any]:
    output = mask.tree(told.output)
    if told.summary and output is None:
        output = {"summary": mask.text(told.summary)}
    if output is not None and len(json.dumps(output)) > OUTPUT_MAX:
        output = {"left_out": f"more than {OUTPUT_MAX // 1024} KiB of JSON"}
    metrics = {mask.text(name): value for name, value in told.metrics.items()}
    engine = mask.text(told.engine) if told.engine else None
    return {"output": output, "metrics": metrics, "cost_usd": told.cost_usd, "engine": engine}


def _describe_engine_errors(told: Told) -> str | None:
    if not told.mcp_errors:
        return None
    return f"MCP servers that did not load: {json.dumps(told.mcp_errors)[:500]}"
