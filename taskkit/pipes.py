"""The same messages over Dagster Pipes, where the run has a Pipes session and dagster_pipes can be imported."""

import atexit
import os
import sys
from typing import Any, Dict, List

VARIABLES = ("DAGSTER_PIPES_CONTEXT", "DAGSTER_PIPES_MESSAGES")
_contexts: List[Any] = []  # the open one; empty also after Pipes could not be used


def forward(message: Dict[str, Any]) -> None:
    """Into Dagster's log of the run, and as a custom message {"argus": message}.

    The runner has the message already, so a Pipes session that cannot be used is said once and costs nothing.
    """
    if not all(os.environ.get(name) for name in VARIABLES):
        return
    try:
        import dagster_pipes
    except ImportError:
        return
    try:
        if not _contexts:
            is_ours = not dagster_pipes.PipesContext.is_initialized()
            _contexts.append(dagster_pipes.open_dagster_pipes())
            if is_ours:
                atexit.register(_contexts[0].close)
        context = _contexts[0]
        context.report_custom_message({"argus": message})
        if message.get("summary"):
            context.log.info(str(message["summary"]))
    except Exception as error:  # noqa: BLE001 — Dagster's own errors are many; the runner has the message
        sys.stderr.write("taskkit: Dagster Pipes cannot be used, the runner has the message: %s\n" % error)
        for name in VARIABLES:
            os.environ.pop(name, None)
