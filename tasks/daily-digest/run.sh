# Today's digest into the outbox. Run again, it changes nothing: one digest a day.
set -eu
argus digest
