"""`argus bench` runs a benchmark beside the code, with the words it was given."""

from __future__ import annotations

import pytest

from argus_cli.bench_command import BENCHMARKS
from argus_cli.home import PROJECT_ROOT
from argus_cli.main import main


@pytest.mark.parametrize("name", sorted(BENCHMARKS))
def test_every_benchmark_stands_in_its_folder(name: str) -> None:
    """Each name of the table has its module under benchmarks/."""
    path = PROJECT_ROOT / "benchmarks" / (BENCHMARKS[name][0].replace(".", "/") + ".py")
    assert path.is_file()


def test_words_are_handed_on(capfd: pytest.CaptureFixture[str]) -> None:
    """Options after the name reach the benchmark: its own help is printed."""
    assert main(["bench", "retrieval", "--help"]) == 0
    assert "--format" in capfd.readouterr().out


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """A name that is no benchmark ends with exit code 2 and the list of those there are."""
    assert main(["bench", "nothing"]) == 2
    assert "retrieval" in capsys.readouterr().err
