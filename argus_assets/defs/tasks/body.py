"""One run of a task in Dagster: run_task in a Pipes session, then what came of it as Dagster's events.

    ok        a materialization with the report's figures
    skipped   an observation with the reason, no materialization: nothing was made
    else      a red run, with the reason as its error

The report itself stands in task_runs, whatever Dagster makes of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import dagster as dg

from argus_assets.defs.tasks.checks import as_evaluation
from argus_assets.defs.tasks.pipes import environment_of, open_session, reported_metadata
from argus_assets.defs.tasks.tags import OUTCOME, RID, attempt_of, due_of, starter_of, task_tags
from argus_assets.resources import MemoryResource
from argus_memory.records import RunResult, TaskList, TaskSpec
from argus_memory.tasks.names import asset_key
from argus_memory.tasks.runner import run_task
from argus_memory.upkeep.process import utc_now
from argus_memory.watch.dagster_side import tell_tools
from argus_memory.watch.task_checks import CheckState, find_checks, judge_config


def run_stanza(context: dg.OpExecutionContext, memory: MemoryResource, spec: TaskSpec) -> Iterator[Any]:
    """Run it once and yield Dagster's events; raises Failure where it did not end well."""
    tags = _complete_tags(context, spec)
    attempt = attempt_of(tags, context.retry_number)
    with open_session(context) as session:
        result = run_task(
            memory.db,
            memory.settings,
            spec,
            started_by=starter_of(tags),
            due_at=due_of(tags),
            attempt=attempt,
            retries_left=max(0, spec.retries - attempt),
            dagster_run_id=context.run_id,
            extra_env=environment_of(session),
        )
    context.instance.add_run_tags(context.run_id, {RID: result.rid, OUTCOME: result.outcome})
    # All of them: Dagster counts an answer older than the newest materialization as none.
    states = [*judge_config(TaskList((spec,), ())), *find_checks(memory.db, (spec,))]
    tell_tools(memory.db, memory.settings, states, now=utc_now())
    yield from events_of(spec, result, states, reported_metadata(context, session))


def events_of(
    spec: TaskSpec, result: RunResult, states: list[CheckState], reported: Mapping[str, Any]
) -> Iterator[Any]:
    """Dagster's events for an outcome; raises Failure for one that is not well. Checks first: they must be told."""
    for state in states:
        yield as_evaluation(state)
    metadata = metadata_of(result)
    if result.outcome == "ok":
        yield dg.MaterializeResult(metadata={**reported, **metadata})
    elif result.outcome == "skipped":
        yield dg.AssetObservation(dg.AssetKey(asset_key(spec.name)), metadata=metadata, description=result.reason)
    else:
        reason = result.reason or f"ended with exit code {result.exit_code}"
        raise dg.Failure(f"{spec.name} {result.outcome}: {reason}", metadata=metadata)


def metadata_of(result: RunResult) -> dict[str, Any]:
    """The report's figures; what is not known is left out, so that an unknown cost is never shown as 0."""
    output = result.output
    values: dict[str, Any] = {
        "outcome": result.outcome,
        "seconds": round((result.finished_at - result.started_at).total_seconds(), 3),
        "exit code": result.exit_code,
        "signal": result.signal,
        "reason": result.reason,
        "summary": _summary(result),
        "output": dg.MetadataValue.json(output) if isinstance(output, dict | list) else output,
        "cost (USD)": result.cost_usd,
        "engine": result.engine,
        "stdout": _as_code(result.stdout_tail, result.stdout_bytes),
        "stderr": _as_code(result.stderr_tail, result.stderr_bytes),
        "rid": result.rid,
    }
    values |= {f"metric: {name}": value for name, value in result.metrics.items()}
    return {name: value for name, value in values.items() if value is not None}


def _summary(result: RunResult) -> str | None:
    """One line for a person, where the task gave one."""
    said = getattr(result, "summary", None)
    if said is None and isinstance(result.output, Mapping):
        said = result.output.get("summary")
    return str(said) if said else None


def _as_code(tail: str, total: int) -> dg.MetadataValue[Any] | None:
    """A tail as a block that no text in it can end."""
    if not tail:
        return None
    longest = max((len(run) for run in _tick_runs(tail)), default=0)
    fence = "`" * max(3, longest + 1)
    cut = f"\n\n(the end of {total:,} bytes)" if total > len(tail.encode("utf-8", "replace")) else ""
    return dg.MetadataValue.md(f"{fence}\n{tail.rstrip()}\n{fence}{cut}")


def _tick_runs(text: str) -> list[str]:
    return ["`" * len(part) for part in "".join(c if c == "`" else " " for c in text).split()]


def _complete_tags(context: dg.OpExecutionContext, spec: TaskSpec) -> Mapping[str, str]:
    """The run's tags; one that a person started in Dagster has none of the task's before its worker gives it them."""
    tags = context.run.tags
    missing = {name: value for name, value in task_tags(spec).items() if name not in tags}
    if missing:
        context.instance.add_run_tags(context.run_id, missing)
    return tags
