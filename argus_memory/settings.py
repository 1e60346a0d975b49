"""Every setting and every constant, with its unit and its reason.

`load_settings()` reads the environment over `$ARGUS_HOME/env` once; a bad value raises SettingError with one
sentence. docs/options.md is checked against OPTIONS by a test, so an option cannot exist undocumented.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import time, timedelta
from pathlib import Path
from typing import Any

from argus_memory.errors import SettingError
from argus_memory.option_values import (
    one_of,
    parse_chats,
    parse_database,
    parse_duration,
    parse_fraction,
    parse_identifier,
    parse_levels,
    parse_list,
    parse_path,
    parse_port,
    parse_positive,
    parse_text,
    parse_time_of_day,
    parse_token,
    parse_url,
    parse_zone,
    some_of,
)

CODE_FOLDER = Path(__file__).resolve().parent.parent

# --- capture -------------------------------------------------------------------------------------------------
CAPTURE_MAX_ITEMS = 1000  # items a request
CAPTURE_MAX_BYTES = 32 * 1024 * 1024  # bytes a request body; above it 413
CAPTURE_MAX_BODY = 4 * 1024 * 1024  # characters of one item's body; a 1 MB line is ordinary, 50 MB is not

# --- segment (seeds/pipeline: 20 turns, 30 minutes, 4 turns) --------------------------------------------------
SIZE_CAP = 20  # prompts and answers; blocks of one message count once
TIME_GAP = timedelta(minutes=30)
TOPIC_MIN_TURNS = 4
TURN_VECTOR_PATIENCE = timedelta(minutes=10)  # how long a due tail waits for vectors before cap and gap decide

# --- distill --------------------------------------------------------------------------------------------------
DISTILL_FAILURE_CAP = 5  # content failures until a unit is parked
DISTILL_BATCH = 50  # units a pass; the next tick takes the rest, newest first
DISTILL_LEASE = timedelta(minutes=30)  # a claim older than this belongs to a run that died
TITLE_MAX = 80  # characters

# --- embed ----------------------------------------------------------------------------------------------------
EMBED_BATCH = 64  # rows a transaction
LITELLM_EMBED_DIM = 768

# --- dedup ----------------------------------------------------------------------------------------------------
DEDUP_NEIGHBOURS = 3
DEDUP_FLAG_CONFIDENCE = 0.70  # at or above it a supersede is held for a person

# --- recall ---------------------------------------------------------------------------------------------------
RRF_K = 60
PROJECT_BOOST = 1.25
RECALL_FLOOR = 0.015  # on the RRF scale
SUBSTANCE_FLOOR = 5  # meaningful tokens
PROMPT_MAX_NOTES = 5
CONTEXT_MAX_NOTES = 12
CONTEXT_TURN_CHARS = 1500  # last turns of the project's latest session, verbatim
INJECTION_MAX_CHARS = 8000  # Claude Code cuts hook output at 10,000 characters without a word


@dataclass(frozen=True, slots=True)
class Settings:
    """What the operator chose. Field names are the variables' without ARGUS_, in lower case."""

    home: Path
    database_url: str | None
    api_host: str
    api_port: int
    dagster_port: int
    dagster_url: str
    capture_token: str | None
    mcp_token: str | None
    admin_token: str | None
    api_url: str
    exclude: tuple[str, ...]
    recall_floor: float
    llm_base_url: str | None
    langfuse_url: str | None
    llm_api_key: str | None
    distill_model: tuple[str, ...]
    judge_model: tuple[str, ...]
    embed_model: str | None
    embed_dim: int | None
    text_search: str
    idle_close: timedelta
    llm_timeout: timedelta
    llm_context: int
    llm_calls_per_hour: int
    llm_tokens_per_hour: int
    run_retention: timedelta
    fusion: str
    telegram_token: str | None
    telegram_base_url: str | None
    telegram_chats: tuple[str, ...]
    vault: Path | None
    tasks: Path
    timezone: str | None
    ask_model: tuple[str, ...]
    agent_model: tuple[str, ...]
    engines: tuple[str, ...]
    claude: str
    codex: str
    runtime_calls_per_hour: int
    digest_at: time
    remind_every: timedelta
    alert_channel: str
    webhook_url: str | None
    ntfy_url: str | None
    ntfy_token: str | None
    slo: Mapping[str, float]
    canary_every: timedelta
    backups: Path | None
    regenerate_loss: float
    reconcile_above: float | None
    auto_approve: timedelta | None

    @property
    def tasks_folder(self) -> Path:
        """Where config.ini stands; a relative ARGUS_TASKS is below the folder of the code, not of the caller."""
        return self.tasks if self.tasks.is_absolute() else CODE_FOLDER / self.tasks

    @property
    def backups_folder(self) -> Path:
        return self.backups or self.home / "backups"

    @property
    def dagster_home(self) -> Path:
        return self.home / "dagster"

    @property
    def env_file(self) -> Path:
        return self.home / "env"


@dataclass(frozen=True, slots=True)
class Option:
    """One row of the table of options: `parse` raises ValueError with the problem; `accepted` is the form."""

    name: str
    default: str | None
    parse: Callable[[str], Any]
    accepted: str
    meaning: str
    secret: bool = False

    @property
    def field(self) -> str:
        return self.name.removeprefix("ARGUS_").lower()


LONG_ENOUGH = "at least 16 ASCII characters without spaces"
OPTIONS: tuple[Option, ...] = (
    Option("ARGUS_HOME", "~/.argus", parse_path, "a folder", "everything Argus keeps on this machine"),
    Option("ARGUS_DATABASE_URL", None, parse_database, "postgresql://user:password@host:port/database",
           "an external PostgreSQL with pgvector; unset: the embedded one under the home", secret=True),
    Option("ARGUS_API_HOST", "127.0.0.1", parse_text, "a host name or address", "where the API listens"),
    Option("ARGUS_API_PORT", "8484", parse_port, "1 to 65535", "the API's port"),
    Option("ARGUS_DAGSTER_PORT", "3000", parse_port, "1 to 65535", "the Dagster UI's port, always on 127.0.0.1"),
    Option("ARGUS_CAPTURE_TOKEN", None, parse_token, LONG_ENOUGH, "hooks: capture and recall", secret=True),
    Option("ARGUS_MCP_TOKEN", None, parse_token, LONG_ENOUGH, "agents: reads and an agent's writes", secret=True),
    Option("ARGUS_ADMIN_TOKEN", None, parse_token, LONG_ENOUGH, "a person: everything", secret=True),
    Option("ARGUS_API_URL", None, parse_url, "http(s)://host[:port]",
           "where hooks find the hub; unset: the API's host and port"),
    Option("ARGUS_DAGSTER_URL", None, parse_url, "http(s)://host[:port]",
           "where Argus asks Dagster; unset: ARGUS_DAGSTER_PORT on 127.0.0.1"),
    Option("ARGUS_EXCLUDE", "", parse_list, "globs of folders, comma-separated",
           "folders never captured, imported or recalled into"),
    Option("ARGUS_RECALL_FLOOR", str(RECALL_FLOOR), parse_fraction, "0 to 1",
           "relevance floor of prompt recall, on the RRF scale (two first places give 0.0328)"),
    Option("ARGUS_LLM_BASE_URL", None, parse_url, "http(s)://host[:port][/path]",
           "an OpenAI-compatible address, a LiteLLM proxy for instance"),
    Option("ARGUS_LLM_API_KEY", None, parse_text, "the key for that address", "sent to the model server only",
           secret=True),
    Option("ARGUS_LANGFUSE_URL", None, parse_url, "http(s)://host[:port][/project/ID]",
           "the Langfuse that your LiteLLM proxy reports to: calls name their trace, and pages link to it"),
    Option("ARGUS_DISTILL_MODEL", "", parse_list, "model names as LiteLLM writes them, comma-separated",
           "models that distill, first the one to try first, or `runtime` (docs/tasks.md);"
           " unset: the extractive distiller"),
    Option("ARGUS_JUDGE_MODEL", "", parse_list, "model names as LiteLLM writes them, comma-separated",
           "models that judge near-duplicates, or `runtime`; unset: the rules alone"),
    Option("ARGUS_EMBED_MODEL", None, parse_text, "a model name as LiteLLM writes it",
           "the model that embeds; unset: the embedded one"),
    Option("ARGUS_EMBED_DIM", None, parse_positive, "a whole number above 0",
           f"size of its vectors; unset: {LITELLM_EMBED_DIM} with a LiteLLM model, the embedded model's own without"),
    Option("ARGUS_TEXT_SEARCH", "english", parse_identifier, "the name of a PostgreSQL text-search configuration",
           "how text is split and stemmed; `simple` for languages without a stemmer"),
    Option("ARGUS_IDLE_CLOSE", "30m", parse_duration, "a duration: 30s, 5m, 1h30m, 2d",
           "after this silence a conversation's tail is closed and distilled"),
    Option("ARGUS_LLM_TIMEOUT", "2m", parse_duration, "a duration: 30s, 5m, 1h30m, 2d", "limit of one model call"),
    Option("ARGUS_LLM_CONTEXT", "8192", parse_positive, "a whole number above 0",
           "tokens a distilling model can take at once; a longer episode is distilled in parts"),
    Option("ARGUS_LLM_CALLS_PER_HOUR", "600", parse_positive, "a whole number above 0",
           "budget of model calls an hour and stage; above it the stage waits and says so"),
    Option("ARGUS_LLM_TOKENS_PER_HOUR", "2000000", parse_positive, "a whole number above 0",
           "budget of tokens an hour and stage"),
    Option("ARGUS_RUN_RETENTION", "30d", parse_duration, "a duration: 30s, 5m, 1h30m, 2d",
           "how long finished Dagster runs and their logs are kept"),
    Option("ARGUS_FUSION", "best", one_of("best", "rrf"), "best or rrf",
           "how the search tracks are joined; rrf is plain reciprocal rank fusion (k = 60)"),
    Option("ARGUS_TELEGRAM_TOKEN", None, parse_text, "a bot's token", "the Telegram bot", secret=True),
    Option("ARGUS_TELEGRAM_BASE_URL", None, parse_url, "http(s)://host[:port][/path]", "another Bot API server"),
    Option("ARGUS_TELEGRAM_CHATS", "", parse_chats, "name=chat_id or name=chat_id/thread_id, comma-separated",
           "where messages go; `main` is the default"),
    Option("ARGUS_VAULT", None, parse_path, "a folder", "where the Markdown vault is written"),
    Option("ARGUS_TASKS", "tasks", parse_path, "a folder",
           "the tasks: config.ini and a folder each; a relative one is below the folder of the code"),
    Option("ARGUS_TIMEZONE", None, parse_zone, "a time zone as in Europe/Vienna",
           "zone of the digest's hour and of tasks that name none; unset: this machine's"),
    Option("ARGUS_ASK_MODEL", "", parse_list, "model names as LiteLLM writes them, comma-separated",
           "models that answer llm tasks and POST /ask, the local one first; unset: those calls are refused"),
    Option("ARGUS_AGENT_MODEL", "", parse_list, "model names as LiteLLM writes them, comma-separated",
           "models of an agent task's last resort, the API; unset: that engine is not configured"),
    Option("ARGUS_ENGINES", "claude,codex,api", some_of("claude", "codex", "api"),
           "claude, codex, api, comma-separated", "the engines of agent tasks, in the order they are tried"),
    Option("ARGUS_CLAUDE", "claude", parse_text, "a command or path", "the Claude Code executable of agent tasks"),
    Option("ARGUS_CODEX", "codex", parse_text, "a command or path", "the Codex executable of agent tasks"),
    Option("ARGUS_RUNTIME_CALLS_PER_HOUR", "20", parse_positive, "a whole number above 0",
           "budget of engine calls an hour where ARGUS_DISTILL_MODEL or ARGUS_JUDGE_MODEL is `runtime`"),
    Option("ARGUS_DIGEST_AT", "07:30", parse_time_of_day, "HH:MM", "when the daily digest is written"),
    Option("ARGUS_REMIND_EVERY", "6h", parse_duration, "a duration: 30s, 5m, 1h30m, 2d",
           "pace of reminders while an alert stays open"),
    Option("ARGUS_ALERT_CHANNEL", "main", parse_text, "a name of ARGUS_TELEGRAM_CHATS, webhook or ntfy",
           "where alerts and the digest go"),
    Option("ARGUS_WEBHOOK_URL", None, parse_url, "http(s)://host[:port][/path]",
           "gets what is sent to the channel `webhook`, as JSON", secret=True),
    Option("ARGUS_NTFY_URL", None, parse_url, "http(s)://host[:port]/topic",
           "gets what is sent to the channel `ntfy`"),
    Option("ARGUS_NTFY_TOKEN", None, parse_text, "an access token", "sent to that ntfy server only", secret=True),
    Option("ARGUS_SLO", "", parse_levels, "name=number, comma-separated",
           "service levels that differ from the defaults, see docs/operating.md"),
    Option("ARGUS_CANARY_EVERY", "1h", parse_duration, "a duration: 30s, 5m, 1h30m, 2d",
           "pace of the canary turn that travels from hook to recall"),
    Option("ARGUS_BACKUPS", None, parse_path, "a folder", "where backups are kept; unset: backups below the home"),
    Option("ARGUS_REGENERATE_LOSS", "0.3", parse_fraction, "0 to 1",
           "share of notes a regeneration may lose by itself; above it the switch is held for a person"),
    Option("ARGUS_RECONCILE_ABOVE", None, parse_fraction, "0 to 1",
           "drift from which the nightly reconcile switches a day; unset: it changes nothing"),
    Option("ARGUS_AUTO_APPROVE", None, parse_duration, "a duration: 30s, 5m, 1h30m, 2d",
           "held merges and agents' proposals that waited this long, uncontested, are approved (looked at daily);"
           " unset: none"),
)


def read_env_file(path: Path) -> dict[str, str]:
    """KEY=VALUE lines; blank lines and # comments are passed over, one pair of quotes is taken off."""
    values: dict[str, str] = {}
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return values
    for line in text.splitlines():
        key, separator, value = line.strip().partition("=")
        if separator and not key.startswith("#"):
            value = value.strip()
            if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
                value = value[1:-1]
            values[key.removeprefix("export ").strip()] = value
    return values


def load_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Read the environment over `$ARGUS_HOME/env`; raises SettingError on the first bad value.

    An empty value counts as unset. Names that start with ARGUS_ but are no option are left alone: other
    programs (hooks, tasks) have variables of their own.
    """
    given = dict(os.environ if environment is None else environment)
    home = parse_path(given.get("ARGUS_HOME") or "~/.argus").absolute()
    given = {**read_env_file(home / "env"), **{k: v for k, v in given.items() if v}, "ARGUS_HOME": str(home)}
    values: dict[str, Any] = {}
    for option in OPTIONS:
        text = given.get(option.name) or option.default
        if text is None:
            values[option.field] = None
            continue
        try:
            values[option.field] = option.parse(text)
        except ValueError as error:
            raise SettingError(option.name, str(error), option.accepted) from None
    if values["api_url"] is None:
        values["api_url"] = f"http://{values['api_host']}:{values['api_port']}"
    if values["dagster_url"] is None:
        values["dagster_url"] = f"http://127.0.0.1:{values['dagster_port']}"
    assert set(values) == {f.name for f in fields(Settings)}
    return Settings(**values)
