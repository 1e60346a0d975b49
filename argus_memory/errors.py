"""Every error Argus raises on purpose. Each message is one sentence: what is wrong, and what to do next.

    ArgusError
    ├── UsageError                exit 2, HTTP 422   wrong use: a bad setting, a bad argument, a second instance
    │   ├── SettingError                             names the variable, the problem and the accepted form
    │   ├── InvalidItem           (field, index)     a captured item that cannot be accepted
    │   └── AlreadyRunning
    ├── NotFound                  exit 2, HTTP 404
    ├── Conflict                  exit 2, HTTP 409   e.g. approving what was rejected
    ├── Unreachable               exit 3, HTTP 503   port, binary, database, platform
    └── ModelFailure                                 what a model call can end in
        ├── InfraFailure                             time-out, 408/429/5xx, refused: try again, never counts
        ├── ContentFailure                           refusal, prose, wrong shape: counts, parks at five
        └── ConfigurationFailure                     401/403/404, budget: says so once, never counts
            └── BudgetExceeded
"""

from __future__ import annotations


class ArgusError(Exception):
    """Root of the tree; `exit_code` is what the command line ends with, `http_status` what a route answers."""

    exit_code = 1
    http_status = 500
    code = "error"


class UsageError(ArgusError):
    exit_code = 2
    http_status = 422
    code = "invalid"


class SettingError(UsageError):
    """A setting's value cannot be used; the start stops with this sentence."""

    code = "bad_setting"

    def __init__(self, variable: str, problem: str, accepted: str) -> None:
        super().__init__(f"{variable}: {problem}; accepted: {accepted}")
        self.variable = variable


class InvalidItem(UsageError):
    """A captured item is malformed: `field` names the part, `index` its place in the request."""

    code = "invalid_item"

    def __init__(self, field: str, problem: str, index: int | None = None) -> None:
        where = "" if index is None else f"items[{index}]."
        super().__init__(f"{where}{field}: {problem}")
        self.field = field
        self.problem = problem
        self.index = index


class AlreadyRunning(UsageError):
    http_status = 409
    code = "already_running"


class NotFound(ArgusError):
    exit_code = 2
    http_status = 404
    code = "not_found"


class Conflict(ArgusError):
    exit_code = 2
    http_status = 409
    code = "conflict"


class Unreachable(ArgusError):
    """Something the work needs cannot be reached or used: port, binary, database, platform."""

    exit_code = 3
    http_status = 503
    code = "unreachable"


class ModelFailure(ArgusError):
    """A model call that did not give a usable answer; `status` is the HTTP status where there was one."""

    http_status = 502
    code = "model_failure"
    kind = "content"

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class InfraFailure(ModelFailure):
    kind = "infra"


class ContentFailure(ModelFailure):
    kind = "content"


class ConfigurationFailure(ModelFailure):
    kind = "configuration"


class BudgetExceeded(ConfigurationFailure):
    """A stage used up its hourly budget of model calls or tokens."""
