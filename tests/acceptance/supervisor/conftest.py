"""One hub for all tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.acceptance.hub import Hub, new_hub


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    with new_hub() as made:
        yield made
