"""The nouns, as frozen dataclasses. Times are timezone-aware UTC datetimes; scores say their scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

Kind = Literal["turn", "document", "event", "synthesis"]
UnitKind = Literal["episode", "item"]
Verdict = Literal["duplicate", "refine", "supersede", "distinct"]

Handler = Literal["code", "llm", "agent"]
TaskMode = Literal["run", "observe"]
Outcome = Literal["ok", "failed", "timed-out", "skipped", "overrunning", "orphaned"]
StartedBy = Literal["schedule", "person", "catch-up", "report"]

KINDS: tuple[str, ...] = ("turn", "document", "event", "synthesis")
CATEGORIES: tuple[str, ...] = ("preference", "person", "fact", "decision", "context", "procedure")
GLOBAL_PROJECT = "global"  # only ever assigned explicitly
CANARY_PROJECT = "argus-canary"  # health probes: never distilled, recalled or counted
CANARY_SESSION = "argus-canary"  # a probe's session is this, or begins with it and a hyphen; no client names one so


def is_canary_session(session: str | None) -> bool:
    """Whether a session is a health probe's: a hook names no project, so its turns are told by this."""
    return session is not None and (session == CANARY_SESSION or session.startswith(f"{CANARY_SESSION}-"))


@dataclass(frozen=True, slots=True)
class Redaction:
    """One kind of secret that was masked, and how often; never the value."""

    kind: str
    count: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of one captured item. `id` is None exactly when `skipped` names the reason."""

    id: int | None
    duplicate: bool = False
    skipped: str | None = None
    redactions: tuple[Redaction, ...] = ()
    near_duplicate_of: int | None = None


@dataclass(frozen=True, slots=True)
class WriteReceipt:
    """What a write did. `held`: an agent's, it waits for a person as `decision_id`; `queued`: as a proposal that
    `disputes` the notes named; `no-op`: it was so before. `detail`: one clause for people."""

    outcome: Literal["created", "reinforced", "queued", "no-op", "refused", "changed", "held"]
    note_id: int | None = None
    uid: str | None = None
    raw_id: int | None = None
    decision_id: int | None = None
    disputes: tuple[int, ...] = ()
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class RawItem:
    """One immutable captured thing."""

    id: int
    source: str
    kind: Kind
    body: str
    session: str | None
    cwd: str | None
    project: str | None
    metadata: Mapping[str, Any]
    said_at: datetime
    captured_at: datetime


@dataclass(frozen=True, slots=True)
class EpisodeTurn:
    """A turn as segmentation and distillation see it, in the order said."""

    raw_id: int
    role: Literal["user", "assistant"]
    text: str
    said_at: datetime
    message_id: str | None = None
    position: int = 0


@dataclass(frozen=True, slots=True)
class Unit:
    """What is distilled at once: a closed episode, or one item that is not a turn."""

    kind: UnitKind
    id: int
    project: str | None
    turns: tuple[EpisodeTurn, ...]
    item_kind: Kind = "turn"
    source: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A note before the gate. `source_ref` is the span of raw text said to support it.

    `raw_id`, `source_start` and `source_end` (characters of that turn's text) are set where the distiller knows
    the place; the gate finds or checks it either way.
    """

    title: str
    content: str
    source_ref: str
    category: str = "fact"
    importance: float = 0.5
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    context: str = ""
    role: str | None = None
    raw_id: int | None = None
    source_start: int | None = None
    source_end: int | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """A distilled note, as every answer shows it. `score` is on the scale of the order it came in; `changed_on`: the
    day it took the place of a note that said otherwise, where recall knows of one; `changed_files`: of the files it
    names, those that changed since it was written."""

    id: int
    uid: str
    title: str
    content: str
    category: str
    importance: float
    confidence: float
    project: str | None
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    context: str
    links: tuple[int, ...]
    source_ref: str
    raw_id: int | None
    episode_id: int | None
    valid_from: datetime
    valid_to: datetime | None
    model: str
    model_real: str | None
    said_at: datetime | None = None
    score: float | None = None
    rrf_score: float | None = None
    why: Mapping[str, Any] = field(default_factory=dict)
    changed_on: date | None = None
    changed_files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnHit:
    """A verbatim turn found by recall or search."""

    raw_id: int
    role: str
    text: str
    session: str
    project: str | None
    said_at: datetime
    score: float
    rrf_score: float | None = None
    why: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProcessReport:
    """Counts of one run of all stages; the names are the contract's (section 4)."""

    episodes_closed: int = 0
    units_distilled: int = 0
    notes_created: int = 0
    notes_rejected: int = 0
    parked: int = 0
    transient_failures: int = 0
    turns_embedded: int = 0
    notes_embedded: int = 0
    dedup: Mapping[str, int] = field(default_factory=dict)
    held: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """A stanza of tasks/config.ini that can be used; see docs/tasks.md for what each key means.

    schedule: as written (5 or 6 fields, @daily, `@every 90m`); None: started by a person only.
    command: for `sh -c` in `folder` (code); prompt: text or `file:NAME` below the folder (llm, agent).
    mode `observe`: expected and reported, but started by another scheduler.
    hub_settings: the command is one of Argus's own and gets its settings, the database's address included.
    """

    name: str
    handler: Handler
    folder: Path
    file: Path
    line: int
    command: str | None = None
    prompt: str | None = None
    schedule: str | None = None
    timezone: str = "UTC"
    start_grace: timedelta = timedelta(minutes=5)
    max_runtime: timedelta = timedelta(hours=1)
    channel: str | None = None
    retries: int = 0
    no_overlap: bool = True
    failures_before_alert: int = 1
    enabled: bool = True
    env: Mapping[str, str] = field(default_factory=dict)
    mode: TaskMode = "run"
    image: str | None = None
    hub_settings: bool = False
    description: str = ""
    engines: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    budget_usd: float | None = None
    max_turns: int | None = None


@dataclass(frozen=True, slots=True)
class BrokenTask:
    """A stanza, or the whole file, that cannot be used: where, what is wrong, what to do."""

    name: str
    file: Path
    line: int
    problem: str
    cure: str

    @property
    def sentence(self) -> str:
        return f"{self.file.name}:{self.line}: {self.problem}; {self.cure}"


@dataclass(frozen=True, slots=True)
class TaskList:
    """What config.ini says: usable stanzas and broken ones, in the order of the file."""

    tasks: tuple[TaskSpec, ...]
    broken: tuple[BrokenTask, ...]


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run of a task ended. cost_usd: None where it is not known; signal: that ended it, if one did."""

    rid: str
    task: str
    outcome: Outcome
    started_at: datetime
    finished_at: datetime
    exit_code: int | None = None
    signal: int | None = None
    reason: str | None = None
    stdout_tail: str = ""
    stderr_tail: str = ""
    stdout_bytes: int = 0
    stderr_bytes: int = 0
    output: Any = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    cost_usd: float | None = None
    engine: str | None = None
