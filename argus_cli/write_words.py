"""Receipts of writes in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argus_cli.counts import count

if TYPE_CHECKING:
    from argus_memory.records import WriteReceipt
    from argus_memory.upkeep.redacting import RedactReceipt


def write_as_text(receipt: WriteReceipt) -> str:
    """`created note 7`, `queued as proposal 3`; then the detail."""
    said: str = receipt.outcome
    if receipt.outcome == "queued":
        said += f" as proposal {receipt.decision_id}"
    elif receipt.outcome == "held":
        said += f" as decision {receipt.decision_id}"
    elif receipt.note_id is not None:
        said += f" note {receipt.note_id}"
    return said + (f"; {receipt.detail}" if receipt.detail else "")


def redaction_as_text(receipt: RedactReceipt) -> str:
    """What changed, then what a person has to see to: each thing on a line of its own."""
    if receipt.outcome == "no-op":
        return f"raw item {receipt.raw_id} was redacted before: nothing to do"
    verb = "would change" if receipt.outcome == "dry-run" else "changed"
    lines = [
        f"{verb} {count(len(receipt.raws), 'raw item')} ({', '.join(map(str, receipt.raws))}) and"
        f" {count(len(receipt.notes), 'note')}"
    ]
    lines += [f"    {table}: {count(rows, 'row')}" for table, rows in sorted((receipt.tables or {}).items())]
    if receipt.kept:
        lines.append(f"names and keys that hold the words and were left: {', '.join(receipt.kept)}")
    if receipt.unswept:
        lines.append(f"dead rows wait for the next redaction or housekeeping in: {', '.join(receipt.unswept)}")
    if receipt.exported:
        lines.append(f"export again the notes {', '.join(map(str, receipt.exported))}: their files hold the words")
    lines += [
        f"a backup made before still holds the words: {dump.path} ({dump.days:.1f} days old)"
        for dump in receipt.dumps
    ]
    if receipt.wal_until and receipt.outcome == "changed":
        lines.append(
            f"the write-ahead log from before {receipt.wal_until:%Y-%m-%d %H:%M} UTC holds them until recycled"
        )
    return "\n".join(lines)
