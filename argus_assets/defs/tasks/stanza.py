"""A stanza as Dagster's definitions. Each is built on its own: one that cannot be leaves the others alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import dagster as dg

from argus_assets.defs.tasks.body import run_stanza
from argus_assets.defs.tasks.schedules import build_schedule
from argus_assets.defs.tasks.tags import RETRY_DELAY
from argus_assets.resources import MemoryResource
from argus_memory.records import BrokenTask, TaskSpec
from argus_memory.rules.masking import mask_text
from argus_memory.tasks.names import asset_key, step_name

GROUP = "tasks"
GROUP_BROKEN = "tasks_broken"
KINDS = {"code": "shell", "llm": "llm", "agent": "agent"}
TEXT_MAX = 2000  # characters of a command or prompt in the catalogue


@dataclass(frozen=True, slots=True)
class TaskParts:
    """What one stanza gives; no schedule where it has none, is switched off, or starts elsewhere."""

    spec: TaskSpec
    asset: dg.AssetsDefinition
    schedule: dg.ScheduleDefinition | None


def build_task(spec: TaskSpec) -> TaskParts:
    """The definitions of a usable stanza; whatever Dagster refuses is raised as it is."""
    policy = dg.RetryPolicy(max_retries=spec.retries, delay=RETRY_DELAY.total_seconds()) if spec.retries else None

    @dg.op(
        name=step_name(spec.name),
        description=f"Runs {spec.name} in a process of its own.",
        out={"result": dg.Out(dg.Nothing, is_required=False)},
        retry_policy=policy,
    )
    def run(context: dg.OpExecutionContext, memory: MemoryResource) -> Iterator[Any]:
        yield from run_stanza(context, memory, spec)

    asset = dg.AssetsDefinition(
        node_def=run,
        keys_by_input_name={},
        keys_by_output_name={"result": dg.AssetKey(asset_key(spec.name))},
        specs=[
            dg.AssetSpec(
                asset_key(spec.name),
                description=_describe(spec),
                group_name=GROUP,
                kinds={KINDS[spec.handler]},
                metadata=_metadata(spec),
                skippable=True,
            )
        ],
    )
    return TaskParts(spec, asset, build_schedule(spec))


def build_broken(broken: BrokenTask) -> dg.AssetSpec:
    """An asset that nothing can start, so that what is broken stands where its task would stand."""
    return dg.AssetSpec(
        asset_key(broken.name),
        description=_clean(f"Cannot be used. {broken.sentence}"),
        group_name=GROUP_BROKEN,
        kinds={"broken"},
        metadata={"file": _clean(str(broken.file)), "line": broken.line},
    )


def refused(spec: TaskSpec, error: Exception) -> BrokenTask:
    """A stanza that Argus could read and Dagster would not take."""
    reason = " ".join(str(error).split())[:300] or type(error).__name__
    return BrokenTask(
        spec.name, spec.file, spec.line, f"Dagster does not take this stanza ({reason})", "change what it names"
    )


def _describe(spec: TaskSpec) -> str:
    lines = [_clean(spec.description)] if spec.description else []
    if not spec.enabled:
        lines.append("Switched off (`enabled = false`): nothing starts it by itself, and nothing expects it.")
    elif spec.schedule is None:
        lines.append("Has no schedule: started by a person only.")
    elif spec.mode == "observe":
        lines.append(
            f"Started elsewhere (`mode = observe`): expected at `{_clean(spec.schedule)}` ({spec.timezone}) and"
            " reported by whoever runs it; Argus does not start it."
        )
    else:
        lines.append(f"Started at `{_clean(spec.schedule)}` ({spec.timezone}).")
    return "\n\n".join(lines)


def _metadata(spec: TaskSpec) -> dict[str, Any]:
    """Where it stands and what it does. Secrets in a command are masked: this page has no password."""
    said = spec.command if spec.command is not None else spec.prompt
    values: dict[str, Any] = {
        "file": str(spec.file),
        "line": spec.line,
        "folder": str(spec.folder),
        "command" if spec.command is not None else "prompt": mask_text(said)[0][:TEXT_MAX] if said else None,
        "schedule": spec.schedule,
        "zone": spec.timezone,
        "channel": spec.channel,
        "image": spec.image,
        "max runtime (s)": int(spec.max_runtime.total_seconds()),
        "start grace (s)": int(spec.start_grace.total_seconds()),
        "retries": spec.retries,
    }
    known = {name: value for name, value in values.items() if value is not None}
    return {name: _clean(value) if isinstance(value, str) else value for name, value in known.items()}


def _clean(text: str) -> str:
    """Text that survives the way to the browser: half a surrogate pair would take the whole code location down."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")
