"""What can go wrong when a task asks something of Argus. A task that does not catch it fails with its sentence."""

from typing import Optional


class TaskkitError(Exception):
    """Root of the three below."""

    exit_code = 1


class NotConfigured(TaskkitError):
    """A variable is missing: the call needs a run of Argus, or the variable set by hand."""

    exit_code = 2


class NotReachable(TaskkitError):
    """The hub does not answer, or says that it cannot now: worth another try."""

    exit_code = 3


class Refused(TaskkitError):
    """The hub answered with an error; `status` is HTTP's, `code` the hub's word for it."""

    def __init__(self, message: str, status: int, code: Optional[str] = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
