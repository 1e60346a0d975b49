"""Small things that many tests need."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_until(question: Callable[[], T], *, seconds: float = 20.0, step: float = 0.02, what: str = "") -> T:
    """Ask until the answer is true and return it; fails with `what` when the time is over."""
    end = time.monotonic() + seconds
    while True:
        answer = question()
        if answer:
            return answer
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what or getattr(question, '__name__', question)}")
        time.sleep(step)
