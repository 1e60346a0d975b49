"""A Dagster Pipes session for a task: its code may report materializations and logs, and need not.

`dg.open_pipes_session` without its warning: most tasks are shell commands that never heard of Pipes, and each run of
theirs would say that something may be wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import dagster as dg
from dagster._core.pipes.context import PipesMessageHandler, PipesSession, build_external_execution_context_data


@contextmanager
def open_session(context: dg.OpExecutionContext) -> Iterator[PipesSession]:
    """`get_bootstrap_env_vars()` is for the task's process; what it reported is whole when the session is closed."""
    reader = dg.PipesTempFileMessageReader()
    injector = dg.PipesEnvContextInjector()
    handler = PipesMessageHandler(context, reader)
    data = build_external_execution_context_data(context, None)
    with injector.inject_context(data) as context_params, handler.handle_messages() as message_params:
        yield PipesSession(
            context_data=data,
            message_handler=handler,
            context_injector_params=context_params,
            message_reader_params=message_params,
            context=context,
        )


def reported_metadata(context: dg.OpExecutionContext, session: PipesSession) -> dict[str, Any]:
    """What the task's code reported of its own asset; other things it reported are named in the log."""
    metadata: dict[str, Any] = {}
    for result in session.get_reported_results():
        if isinstance(result, dg.MaterializeResult):
            metadata.update(result.metadata or {})
        else:
            context.log.info("reported over Pipes, not an asset of this task: %s", result)
    return metadata


def environment_of(session: PipesSession) -> Mapping[str, str]:
    return dict(session.get_bootstrap_env_vars())
