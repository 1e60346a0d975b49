"""Dedup: new notes against those close to them → tombstones, confidence, held merges; each verdict a `dedup_log` row.

For each live note that was not looked at yet and has its vector, the newest of them in the order they were said:

1. An exact repeat (one uid, one speaker) is a duplicate, without a model.
2. Its up to three nearest neighbours of the same speaker, in its project or `global`, from the space's dedup_floor
   on.
3. The judge model gives a verdict on the one that matters; without a model, or when its answer is of no use, the
   rules do: they merge near-exact, number-safe repeats alone, and the log says that they decided.
4. One transaction: both notes are locked and looked at again, then changed together with the log.

A judge that cannot be reached, or must not be asked, leaves the note for the next pass. One pass at a time.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import ContentFailure, InfraFailure, ModelFailure
from argus_memory.models import llm_judge
from argus_memory.models.llm_judge import Judged
from argus_memory.rules.dedup_judgement import (
    RULES,
    Judgement,
    NoteView,
    is_exact,
    judge_by_rules,
    plan,
    restrain,
)
from argus_memory.rules.uid import note_uid
from argus_memory.settings import Settings
from argus_memory.stages.acting import MACHINE, as_actor
from argus_memory.stages.dedup_decided import take_away_decided
from argus_memory.stages.dedup_find import DedupSpace, PendingNote, find_exact, find_near, find_pending, find_space
from argus_memory.stages.dedup_write import Decision, write_decisions
from argus_memory.stages.model_door import open_door
from argus_memory.stages.passes import describe_error, stage_pass

NOTES_A_PASS = 500
INFRA_IN_A_ROW = 2  # failures after which the judge is taken to be away

Judge = Callable[[NoteView, Sequence[NoteView]], Judged]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DedupReport:
    """Counts of one pass. `exact` are duplicates found by uid; `decided` ones said again what was
    taken away; `alone` notes had no neighbour; `changed` ones were
    touched by others meanwhile and wait; `revived` lost their stand-in; `by_rules`: content failures of the judge;
    `left`: notes not looked at yet, those without a vector included. `stopped` says why the pass ended early."""

    notes: int = 0
    exact: int = 0
    decided: int = 0
    alone: int = 0
    verdicts: Mapping[str, int] = field(default_factory=dict)
    held: int = 0
    by_rules: int = 0
    changed: int = 0
    revived: int = 0
    judge_failures: int = 0
    left: int = 0
    busy: bool = False
    stopped: str | None = None


def dedup_pending(
    db: Database,
    settings: Settings,
    *,
    now: datetime,
    judge: Judge | None = None,
    limit: int = NOTES_A_PASS,
    run_id: str | None = None,
) -> DedupReport:
    """One pass over at most `limit` notes; `judge` stands in for the model of ARGUS_JUDGE_MODEL.

    A judge's failure is reported, not raised. Raises Unreachable without a database.
    """
    if judge is None and settings.judge_model:
        door = open_door(db, settings, run_id=run_id)
        judge = lambda note, near: llm_judge.judge(door, note, near, settings.judge_model)  # noqa: E731
    with stage_pass(db, "dedup", run_id=run_id) as trace, db.transaction() as guard:
        # The guard's transaction holds the claim and nothing else while the judge is asked.
        claimed = guard.execute(queries("dedup").claim_pass).fetchone()
        if claimed is None or not claimed["claimed"]:
            report = DedupReport(busy=True)
        else:
            report = _Pass(db, judge, now, trace.id).run(limit)
        trace.counts.update(asdict(report))
        trace.error = report.stopped
    return report


class _Pass:
    """One pass's counts, and what every note needs."""

    def __init__(self, db: Database, judge: Judge | None, now: datetime, pass_id: int) -> None:
        self.db, self.judge, self.now, self.pass_id = db, judge, now, pass_id
        self.counts: Counter[str] = Counter()
        self.verdicts: Counter[str] = Counter()
        self.stopped: str | None = None
        self.infra_in_a_row = 0

    def run(self, limit: int) -> DedupReport:
        with self.db.transaction() as conn:
            revived = _revive_orphans(conn, self.now)
            space = find_space(conn)
            pending = find_pending(conn, space, now=self.now, limit=limit)
        for each in pending:
            self._look_at(each, space)
            if self.stopped:
                break
        left = self.db.fetch_one(queries("dedup").count_undeduped)
        counts = self.counts
        return DedupReport(
            notes=counts["notes"],
            exact=counts["exact"],
            decided=counts["decided"],
            alone=counts["alone"],
            held=counts["held"],
            by_rules=counts["by_rules"],
            changed=counts["changed"],
            judge_failures=counts["judge_failures"],
            verdicts=dict(self.verdicts),
            revived=revived,
            left=left["n"] if left else 0,
            stopped=self.stopped,
        )

    def _look_at(self, each: PendingNote, space: DedupSpace | None) -> None:
        note = each.note
        uids = {note.uid, note_uid(note.category, note.content, note.project)}
        with self.db.transaction() as conn:
            if take_away_decided(conn, note, now=self.now):
                self.counts["decided"] += 1
                return
            repeats = find_exact(conn, note, sorted(uids), now=self.now)
            near = find_near(conn, note, each.embedding, space, now=self.now)
        exact = next((other for other in repeats if is_exact(note, other)), None)
        if exact is not None:
            # A note under this uid whose words are others was corrected; it stands for what it said before.
            judged = Judgement("duplicate", "the same words, category, project and speaker")
            self._write(note, [Decision(plan(note, exact, judged), RULES, None, same_fact=True)], exact=True)
        elif not near:
            self._write(note, [])
        else:
            self._judge(note, near, space)

    def _judge(self, note: NoteView, near: Sequence[NoteView], space: DedupSpace | None) -> None:
        """A judge that fails on content lets the rules decide; any other failure leaves the note."""
        because = ""
        if self.judge is not None:
            try:
                judged = self.judge(note, near)
            except ContentFailure as failure:
                self.counts["by_rules"] += 1
                because = f"; the judge gave no usable answer: {describe_error(failure)}"
            except ModelFailure as failure:
                self._postpone(note, failure)
                return
            else:
                self.infra_in_a_row = 0
                pairs = [(near[place], one) for place, one in sorted(judged.judgements.items())]
                ruled = [(other, restrain(note, other, judgement)) for other, judgement in pairs]
                self._write(note, [_decide(note, other, one, judged.model) for other, one in ruled])
                return
        # A space without dedup_same was never calibrated for merging: nothing is near enough.
        cosines = (2.0, None) if space is None or space.same is None else (space.same, space.floor)
        by_rules = [(other, judge_by_rules(note, other, *cosines)) for other in near]
        self._write(
            note,
            [_decide(note, other, Judgement(one.verdict, one.reasoning + because), RULES) for other, one in by_rules],
        )

    def _postpone(self, note: NoteView, failure: ModelFailure) -> None:
        self.counts["judge_failures"] += 1
        log.warning("dedup left note %s: %s", note.id, failure)
        self.infra_in_a_row = self.infra_in_a_row + 1 if isinstance(failure, InfraFailure) else INFRA_IN_A_ROW
        if self.infra_in_a_row >= INFRA_IN_A_ROW:
            self.stopped = str(failure)

    def _write(self, note: NoteView, decisions: Sequence[Decision], *, exact: bool = False) -> None:
        with self.db.transaction() as conn:
            written = write_decisions(conn, note, decisions, now=self.now, pass_id=self.pass_id)
        if written is None:
            self.counts["changed"] += 1
            return
        self.counts["notes"] += 1
        self.counts["alone"] += not decisions
        self.counts["exact"] += exact
        for decision in written:
            self.verdicts[decision.plan.verdict] += 1
            self.counts["held"] += decision.plan.status == "pending"


def _decide(note: NoteView, other: NoteView, judged: Judgement, model: str) -> Decision:
    return Decision(plan(note, other, judged), model, other.similarity, same_fact=judged.verdict == "duplicate")


def _revive_orphans(conn: Connection, now: datetime) -> int:
    as_actor(conn, MACHINE, now=now)
    rows = conn.execute(queries("dedup").revive_orphans).fetchall()
    for row in rows:
        conn.execute(queries("dedup").log_revival, {**row, "now": now})
    return len(rows)
