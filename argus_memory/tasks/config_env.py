"""`env.NAME = value` of a stanza: `${VARIABLE}` is a variable of the hub: no secret need stand in the list."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from argus_memory.records import TaskSpec
from argus_memory.settings import Settings, read_env_file

MASKED: Final = "[masked]"
SECRET_MIN: Final = 8  # characters; a shorter value would be found in ordinary words
# What a task may see of the environment Argus runs in; everything else, its tokens above all, stays behind.
ALLOWED: Final = frozenset({"PATH", "HOME", "LANG", "TZ", "TMPDIR", "USER", "LOGNAME", "SHELL", "SSL_CERT_FILE",
                            "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"})  # fmt: skip
_REFERENCE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def expand_env(env: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """The values a task gets, each `${VARIABLE}` replaced; a lone `$` stays.

    environment: the hub's variables, over those of `$ARGUS_HOME/env`. Raises ValueError naming a variable that is
    not there: an empty secret would let the task fail later, and elsewhere.
    """

    def replace(match: re.Match[str]) -> str:
        try:
            return environment[match[1]]
        except KeyError:
            raise ValueError(
                f"the stanza asks for ${{{match[1]}}}, which the hub's environment does not have;"
                f" set {match[1]} in $ARGUS_HOME/env or where Argus is started"
            ) from None

    return {name: _REFERENCE.sub(replace, value) for name, value in env.items()}


def references(env: Mapping[str, str]) -> tuple[str, ...]:
    """The hub's variables that the values ask for, each once."""
    return tuple(dict.fromkeys(name for value in env.values() for name in _REFERENCE.findall(value)))


def referenced_secrets(spec: TaskSpec, settings: Settings, parent: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The values that the stanza takes from the hub's variables: masked in what its task writes, whatever their name.

    Not those of variables that every task has (HOME, USER): words of every path are no secret.
    """
    names = [name for name in references(spec.env) if name not in ALLOWED]
    if not names:
        return ()
    environment = {**read_env_file(settings.env_file), **parent}
    return tuple(environment[name] for name in names if len(environment.get(name, "")) >= SECRET_MIN)


def mask_env(env: Mapping[str, str]) -> dict[str, str]:
    """For tables and pages: names, and references as they stand; every other value is hidden, secret or not."""
    return {name: value if _REFERENCE.fullmatch(value) else MASKED for name, value in env.items()}


def expand_spec(spec: TaskSpec, settings: Settings, parent: Mapping[str, str] = os.environ) -> TaskSpec:
    """The stanza with the values its process gets; `parent` wins over `$ARGUS_HOME/env`. Raises ValueError."""
    if not references(spec.env):
        return spec
    return replace(spec, env=expand_env(spec.env, {**read_env_file(settings.env_file), **parent}))
