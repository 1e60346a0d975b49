"""What a task remembers from run to run: one JSON file of its own below ARGUS_HOME, replaced whole."""

import json
import os
from pathlib import Path
from typing import Any

from taskkit.errors import NotConfigured


def state_file() -> Path:
    """$ARGUS_HOME/tasks/<task>/state.json; raises NotConfigured outside a run."""
    home, task = os.environ.get("ARGUS_HOME"), os.environ.get("ARGUS_TASK")
    if not home or not task:
        raise NotConfigured("ARGUS_HOME and ARGUS_TASK are not set: Argus's runs have them; by hand, set both")
    return Path(home) / "tasks" / task / "state.json"


def load_state(default: Any = None) -> Any:
    """What was saved last, `default` where nothing was. Raises ValueError for a file that is no JSON any more."""
    path = state_file()
    try:
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return default
    except ValueError:
        raise ValueError("%s is no JSON: mend it, or remove it to begin anew" % path) from None


def save_state(value: Any) -> None:
    """Keep any JSON value; a run that dies meanwhile leaves the one before."""
    path = state_file()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(value, indent=1, sort_keys=True) + "\n", "utf-8")
    fresh.replace(path)
