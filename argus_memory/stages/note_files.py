"""Files that notes name: the commit they were written at, and whether they changed since → `note_files`.

    new notes ── names of files ──> a row each, with repository and commit where the hook told them in time
    rows      ── git, once a day ──> unchanged, changed or gone since that commit

Recall says so from the row: no prompt waits for git. A person who reconfirms the note moves the row to the commit of
now. What git cannot tell is left unsaid.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Final

from argus_memory.content.git_changes import FileChange, find_change
from argus_memory.db import Connection, Database, queries
from argus_memory.rules.file_names import find_files, within
from argus_memory.stages.passes import stage_pass
from argus_memory.transcripts.repo import find_commit

NOTES: Final = 500  # a pass
FILES: Final = 100  # that git is asked about a pass
SECONDS: Final = 20.0  # that a pass goes on asking: git takes seconds in a large repository, and others wait
CHECKED_EVERY: Final = timedelta(days=1)
FRESH: Final = timedelta(hours=1)  # between a turn and its capture: later the commit is another one
SETTLED: Final = timedelta(minutes=5)

Ask = Callable[[str, str, str], FileChange]


@dataclass(frozen=True, slots=True)
class NoteFilesReport:
    """Counts of one pass: notes looked through, files noticed, files asked about and changed among them."""

    read: int = 0
    noticed: int = 0
    checked: int = 0
    changed: int = 0
    unknown: int = 0
    more: bool = False


def notice_files(
    db: Database,
    *,
    now: datetime,
    ask: Ask = find_change,
    limit: int = NOTES,
    seconds: float = SECONDS,
    run_id: str | None = None,
) -> NoteFilesReport:
    """One pass; `ask` stands in for git. After `seconds` of asking what is left waits for the next pass."""
    with stage_pass(db, "note_files", run_id=run_id) as trace:
        with db.transaction() as conn:
            read, noticed = _notice(conn, limit, now)
        checked = changed = unknown = 0
        params = {"now": now, "before": now - CHECKED_EVERY, "limit": FILES}
        rows, started = db.fetch_all(queries("note_files").to_check, params), time.monotonic()
        for row in rows:
            if checked and time.monotonic() - started >= seconds:
                break
            found = ask(row["repo"], row["commit"], row["path"])
            with db.transaction() as conn:
                told = {"now": now, "said": found.said, "changed_on": found.changed_on}
                conn.execute(
                    queries("note_files").set_checked, {**told, "note_id": row["note_id"], "path": row["path"]}
                )
            checked += 1
            changed += found.said in ("changed", "gone")
            unknown += found.said == "unknown"
        more = read == limit or checked < len(rows) or checked == FILES
        report = NoteFilesReport(read, noticed, checked, changed, unknown, more)
        trace.counts.update(asdict(report))
    return report


def reconfirm_files(conn: Connection, note_id: int) -> None:
    """The note's files hold as they are now, in the caller's transaction."""
    q = queries("note_files")
    repos = {row["repo"] for row in conn.execute(q.files_of, {"id": note_id}) if row["repo"]}
    for repo in sorted(repos):
        conn.execute(q.reconfirm_files, {"id": note_id, "repo": repo, "commit": find_commit(repo, repo)})


def _notice(conn: Connection, limit: int, now: datetime) -> tuple[int, int]:
    q = queries("note_files")
    mark = conn.execute(q.read_to).fetchone()
    params = {"after": mark["id"] if mark else 0, "limit": limit, "fresh": FRESH}
    rows = conn.execute(q.unread_notes, params).fetchall()
    noticed = 0
    for row in rows:
        repo = row["common_dir"]
        root = repo.removesuffix("/.git") if repo else ""
        for named in find_files(f"{row['content']} {row['source_ref']}"):
            path = within(named, root) if repo else named
            if path is not None:
                params = {"note_id": row["id"], "path": path, "repo": repo, "commit": row["commit"], "now": now}
                noticed += conn.execute(q.insert_file, params).rowcount
    # A note with a lower id may still be on its way: what is young is looked through once more.
    settled = [row["id"] for row in rows if row["created_at"] < now - SETTLED]
    if settled:
        conn.execute(q.set_read_to, {"id": settled[-1], "now": now})
    return len(rows), noticed
