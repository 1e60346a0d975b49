"""What a failed model call means, by its status code.

    infra           time-out, refused or broken connection, 408, 409, 425, 429, 5xx, no status at all: try again
    configuration   401, 402, 403, 404, 405, 410, a parameter the provider does not know: a person must act
    content         400 (context window, content policy), 413, 422, and every answer that is none: this unit's fault

LiteLLM turns a refused connection into a 500 of its own, so the status decides and not the class.
"""

from __future__ import annotations

from typing import Final

from argus_memory.errors import ConfigurationFailure, ContentFailure, InfraFailure, ModelFailure

_CONFIGURATION: Final = frozenset({401, 402, 403, 404, 405, 410})
_INFRA: Final = frozenset({408, 409, 425, 429})
_CONFIGURATION_CLASSES: Final = frozenset({"UnsupportedParamsError", "BudgetExceededError"})
DETAIL_CHARS: Final = 300


def describe(error: BaseException, secret: str | None) -> str:
    """Class and first line of an error, at most 300 characters, the key masked."""
    text = " ".join(str(error).split())
    if secret:
        text = text.replace(secret, "[key]")
    return f"{type(error).__name__}: {text}"[:DETAIL_CHARS]


def classify(error: BaseException, model: str, *, secret: str | None = None) -> ModelFailure:
    """The failure one exception of a model call stands for; a ModelFailure is returned as it is."""
    if isinstance(error, ModelFailure):
        return error
    status = getattr(error, "status_code", None)
    status = status if isinstance(status, int) else None
    detail = f"{model}: {describe(error, secret)}"
    if type(error).__name__ in _CONFIGURATION_CLASSES or status in _CONFIGURATION:
        return ConfigurationFailure(detail, status=status)
    if status is None or status in _INFRA or status >= 500:
        return InfraFailure(detail, status=status)
    return ContentFailure(detail, status=status)


def worst(failures: list[ModelFailure]) -> ModelFailure:
    """What the failures of a whole chain of models count as.

    A content failure counts against the unit only when no model failed for want of infrastructure: the one that
    could not be asked might have answered.
    """
    for kind in (InfraFailure, ContentFailure, ConfigurationFailure):
        for failure in failures:
            if isinstance(failure, kind):
                return failure
    raise ValueError("a chain without a failure")
