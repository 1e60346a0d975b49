"""`run_tasks`, the one job of all tasks: each of its runs is of one task, by the asset that was selected.

Once a minute Dagster's daemon asks the code server for the snapshot of every job, parses and hashes it: 25 kB through
two servers for a job of one task. 200 of them took more than all the rest of an idle hub (benchmarks/README.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import dagster as dg
from dagster._core.definitions.assets.graph.asset_graph import AssetGraph
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from argus_assets.defs.tasks.tags import KIND, TASK, TASK_KIND
from argus_memory.tasks.names import ASSET_GROUP, TASKS_JOB, asset_key


class TasksJob(UnresolvedAssetJobDefinition):
    """A job over tasks alone: with Dagster's own, each run would go through all assets and checks of the hub."""

    def resolve(
        self,
        asset_graph: AssetGraph,
        default_executor_def: dg.ExecutorDefinition | None = None,
        resource_defs: Mapping[str, dg.ResourceDefinition] | None = None,
    ) -> dg.JobDefinition:
        """As Dagster does, in a graph of the tasks' own assets: they depend on nothing else."""
        own = [asset_graph.get(key).assets_def for key in self.selection.resolve(asset_graph)]
        return super().resolve(AssetGraph.from_assets(own), default_executor_def, resource_defs)


def build_job(names: Sequence[str]) -> TasksJob | None:
    """The job of these tasks; None where there is none."""
    if not names:
        return None
    return TasksJob(
        TASKS_JOB,
        selection=dg.AssetSelection.assets(*(asset_key(name) for name in names)).without_checks(),
        description="Runs one task: the asset that is selected. A run's tags say which, and when it was due.",
        tags={KIND: TASK_KIND},
        executor_def=dg.in_process_executor,
    )


def selection_of(name: str) -> list[dg.AssetKey]:
    """What a run of the task selects."""
    return [dg.AssetKey(asset_key(name))]


def task_of(run: dg.DagsterRun) -> str | None:
    """The task a run is of: by its tags, or by its one asset where a worker died before it gave them."""
    if run.tags.get(KIND) == TASK_KIND and TASK in run.tags:
        return run.tags[TASK]
    paths = [key.path for key in run.asset_selection or ()]
    return paths[0][1] if len(paths) == 1 and len(paths[0]) == 2 and paths[0][0] == ASSET_GROUP else None
