"""The prompt of a stanza: text, or `file:NAME` below the task's folder, with `{{NAME}}` filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from argus_memory.errors import UsageError

PREFIX: Final = "file:"
PROMPT_MAX: Final = 1024 * 1024  # characters
# What the runner tells every task; the stanza's own env comes to it. Nothing else of the environment is filled in.
GIVEN: Final = ("ARGUS_TASK", "ARGUS_TASK_RID", "ARGUS_TASK_DUE_AT", "ARGUS_TASK_ATTEMPT")
_VARIABLE: Final = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")


def read_prompt(prompt: str | None, folder: Path, values: Mapping[str, str]) -> str:
    """Raises UsageError in a sentence: no prompt, a file that is away or outside the folder, an unknown variable."""
    text = _read_file(prompt[len(PREFIX) :].strip(), folder) if prompt and prompt.startswith(PREFIX) else prompt or ""
    if len(text) > PROMPT_MAX:
        raise UsageError(f"the prompt has {len(text):,} characters, at most {PROMPT_MAX:,} are taken")
    unknown = sorted({name for name in _VARIABLE.findall(text) if name not in values})
    if unknown:
        raise UsageError(
            f"the prompt names {{{{{unknown[0]}}}}}, which is not set: write `env.{unknown[0]} = …` into the stanza"
        )
    text = _VARIABLE.sub(lambda found: values[found.group(1)], text)
    if not text.strip():
        raise UsageError("the prompt is empty: write `prompt = …` or `prompt = file:prompt.md` into the stanza")
    return text


def prompt_values(env: Mapping[str, str], stanza: Mapping[str, str]) -> dict[str, str]:
    """What `{{NAME}}` may name."""
    return {**stanza, **{name: env[name] for name in GIVEN if name in env}}


def _read_file(name: str, folder: Path) -> str:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise UsageError(f"the prompt's file {name} is outside the task's folder {folder}: put it there")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"the prompt's file {path} is not UTF-8: save it as UTF-8") from None
    except OSError as error:
        raise UsageError(f"the prompt's file {path} cannot be read: {error.strerror}") from None
