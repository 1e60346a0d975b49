"""The checks of tasks: what the ledger, the reports and config.ini say, as Dagster's check evaluations.

All are specs of one check definition, so that a person can ask them at any time; nothing asks them on a schedule. The
sensor tells Dagster of a check whose answer changed, without a run; a task's own run tells all
that is known by then.
"""

from collections.abc import Iterator, Mapping, Sequence

import dagster as dg
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus

from argus_assets.resources import MemoryResource
from argus_memory.records import TaskList
from argus_memory.tasks.names import asset_key
from argus_memory.watch.task_checks import QUESTIONS, CheckState, checks_of, find_checks, judge_config

NAME = "task_checks"
SEVERITY = {"warn": dg.AssetCheckSeverity.WARN, "error": dg.AssetCheckSeverity.ERROR}


def key_of(state: CheckState) -> dg.AssetCheckKey:
    return dg.AssetCheckKey(dg.AssetKey(asset_key(state.task)), state.check)


def as_evaluation(state: CheckState) -> dg.AssetCheckEvaluation:
    key = key_of(state)
    return dg.AssetCheckEvaluation(
        asset_key=key.asset_key,
        check_name=key.name,
        passed=state.passed,
        severity=SEVERITY[state.severity],
        description=state.reason,
        metadata={name: value for name, value in state.evidence.items() if value is not None},
    )


def build_checks(task_list: TaskList) -> dg.AssetChecksDefinition | None:
    """One definition with every check of every task; None where there is no task."""
    specs = [
        dg.AssetCheckSpec(check, asset=dg.AssetKey(asset_key(name)), description=QUESTIONS[check])
        for name, checks in checks_of(task_list).items()
        for check in checks
    ]
    if not specs:
        return None

    @dg.multi_asset_check(name=NAME, specs=specs, can_subset=True)
    def task_checks(context: dg.AssetCheckExecutionContext, memory: MemoryResource) -> Iterator[dg.AssetCheckResult]:
        """Answer what was selected; what nothing is known of yet passes, and says that."""
        states = {key_of(state): state for state in all_states(memory, task_list)}
        for key in sorted(context.selected_asset_check_keys, key=lambda key: (key.asset_key.path, key.name)):
            yield as_result(key, states.get(key))

    return task_checks


def all_states(memory: MemoryResource, task_list: TaskList) -> Sequence[CheckState]:
    return [*judge_config(task_list), *find_checks(memory.db, task_list.tasks)]


def as_result(key: dg.AssetCheckKey, state: CheckState | None) -> dg.AssetCheckResult:
    if state is None:
        return dg.AssetCheckResult(
            asset_key=key.asset_key, check_name=key.name, passed=True, description="unknown: nothing to judge by yet"
        )
    told = as_evaluation(state)
    return dg.AssetCheckResult(
        asset_key=key.asset_key,
        check_name=key.name,
        passed=told.passed,
        severity=told.severity,
        description=told.description,
        metadata=told.metadata,
    )


class ToldChecks:
    """What Dagster was last told of each check, so that only a change is told: an evaluation is a row for ever."""

    def __init__(self) -> None:
        self._known: dict[dg.AssetCheckKey, bool] = {}

    def tell(self, instance: dg.DagsterInstance, states: Sequence[CheckState]) -> list[CheckState]:
        """Report the states Dagster does not know yet, without a run; returns them."""
        doubtful = [state for state in states if self._known.get(key_of(state)) is not state.passed]
        if not doubtful:
            return []
        # Runs tell Dagster too, in processes of their own: what is known here may be old.
        self._known |= _last_evaluations(instance, [key_of(state) for state in doubtful])
        changed = [state for state in doubtful if self._known.get(key_of(state)) is not state.passed]
        for state in changed:
            instance.report_runless_asset_event(as_evaluation(state))
            self._known[key_of(state)] = state.passed
        return changed


def _last_evaluations(
    instance: dg.DagsterInstance, keys: Sequence[dg.AssetCheckKey]
) -> Mapping[dg.AssetCheckKey, bool]:
    """Passed or not, of those that were ever evaluated; one that is planned in a run at this moment is not known."""
    verdicts = {
        AssetCheckExecutionRecordStatus.SUCCEEDED: True,
        AssetCheckExecutionRecordStatus.FAILED: False,
    }
    records = instance.event_log_storage.get_latest_asset_check_execution_by_key(keys)
    return {key: verdicts[record.status] for key, record in records.items() if record.status in verdicts}
