"""The frame of the `argus` command: its table, its help, and how errors become sentences and exit codes."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest

from argus_cli import main as frame
from argus_memory.errors import AlreadyRunning, ArgusError, NotFound, SettingError, Unreachable


def test_every_row_of_the_table_names_a_module_with_both_functions() -> None:
    """Each command's module has add_arguments and run, and no name is given twice."""
    names = [command.name for command in frame.COMMANDS]
    assert len(set(names)) == len(names)
    for command in frame.COMMANDS:
        module = frame.load(command)
        assert callable(module.add_arguments), command.name
        assert callable(module.run), command.name


@pytest.mark.parametrize("command", frame.COMMANDS, ids=lambda command: command.name)
def test_every_command_explains_itself(command: frame.Command, capsys: pytest.CaptureFixture[str]) -> None:
    """`argus COMMAND --help` exits 0 and says what the command does."""
    with pytest.raises(SystemExit) as ended:
        frame.main([command.name, "--help"])
    assert ended.value.code == 0
    assert " ".join(command.help.split()[:3]) in capsys.readouterr().out


def test_help_imports_no_heavy_library() -> None:
    """`argus --help` starts fast because nothing beyond the standard library is imported for it."""
    code = (
        "import sys; from argus_cli.main import main; main(['--help']) if 0 else None\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'psycopg', 'dagster', 'fastapi', 'alembic', 'psutil', 'numpy'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_without_a_command_it_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    """`argus` alone prints the commands and exits 0."""
    assert frame.main([]) == 0
    assert "status" in capsys.readouterr().out


def test_an_unknown_command_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    """A word that is no command ends with exit 2 and names it."""
    with pytest.raises(SystemExit) as ended:
        frame.main(["perhaps"])
    assert ended.value.code == 2
    assert "perhaps" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SettingError("ARGUS_API_PORT", "'x' is not a port", "1 to 65535"), 2),
        (AlreadyRunning("taken"), 2),
        (NotFound("no note 7"), 2),
        (Unreachable("no database"), 3),
        (ValueError("odd"), 1),
    ],
)
def test_errors_become_one_sentence_and_an_exit_code(
    error: Exception, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An error's class decides the exit code; stderr has one line and no traceback."""

    def run(_arguments: object) -> int:
        raise error

    monkeypatch.setattr(frame, "load", lambda _command: SimpleNamespace(add_arguments=lambda _parser: None, run=run))
    assert frame.main(["down"]) == code
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert str(error) in told


def test_debug_shows_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """With --debug the error is raised as it is, wherever the flag stands."""

    def run(_arguments: object) -> int:
        raise Unreachable("no database")

    monkeypatch.setattr(frame, "load", lambda _command: SimpleNamespace(add_arguments=lambda _parser: None, run=run))
    for words in (["--debug", "down"], ["down", "--debug"]):
        with pytest.raises(ArgusError):
            frame.main(words)


def test_a_bad_setting_stops_a_command_with_the_variable_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`argus up` with a port that is none exits 2 and names ARGUS_API_PORT."""
    monkeypatch.setenv("ARGUS_API_PORT", "eighty")
    assert frame.main(["up"]) == 2
    assert "ARGUS_API_PORT" in capsys.readouterr().err
