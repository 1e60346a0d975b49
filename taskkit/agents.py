"""A job for an agent: claude, codex or the API, whichever can, in a process of Argus's own."""

import json
import subprocess
import sys
from typing import Any, Dict

from taskkit.errors import Refused, TaskkitError

COMMAND = ("-m", "argus_memory.tasks.agent_main", "--request", "-")


def run_agent(prompt: str, **options: Any) -> Dict[str, Any]:
    """The result: {"text", "outcome", "engine", "cost_usd", "turns", …}; outcome is ok or capped.

    options: engines, model, access, max_turns, budget_usd, timeout_seconds, project, capture, loop, stop_phrase,
    stop_command. A cap is no failure: `reset_at` says when it ends. Raises Refused when no engine did it or the
    request cannot be used. It needs Argus's own Python, which `python` is in every code task without `image`.
    """
    request = {"prompt": prompt, **options}
    try:
        done = subprocess.run(  # noqa: S603 — our own module
            [sys.executable, *COMMAND],
            input=json.dumps(request).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            check=False,
        )
    except OSError as error:
        raise TaskkitError("the agent could not be started: %s" % error) from None
    said = done.stderr.decode("utf-8", "replace")
    sys.stderr.write(said)  # each turn and its engine belong into the task's own output
    try:
        result = json.loads(done.stdout.decode("utf-8", "replace") or "null")
    except ValueError:
        result = None
    if done.returncode == 0 and isinstance(result, dict):
        return result
    reason = (result or {}).get("reason") if isinstance(result, dict) else None
    last = said.strip().splitlines()[-1:] or ["exit code %d" % done.returncode]
    raise Refused(str(reason or last[0]), done.returncode)
