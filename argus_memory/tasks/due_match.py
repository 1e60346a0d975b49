"""Which expected occurrence a run belongs to that somebody else started. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

EARLY = timedelta(minutes=1)  # the other scheduler's clock may be so much ahead of ours


def match_due(
    dues: Sequence[datetime], started_at: datetime, *, start_grace: timedelta, taken: Collection[datetime] = ()
) -> datetime | None:
    """The occurrence of `dues` (ascending) that a run started at `started_at` is for; None where none fits.

    The nearest one that lies within the grace before the start, or at most EARLY after it; without such a one the
    latest before it, whose run then is late. An occurrence in `taken` has its run already.
    """
    free = [due for due in dues if due not in taken]
    near = [due for due in free if due - EARLY <= started_at <= due + start_grace]
    if near:
        return min(near, key=lambda due: (abs(started_at - due), due))
    before = [due for due in dues if due <= started_at]
    return before[-1] if before and before[-1] not in taken else None
