"""From captured turns to notes: assets by UTC day, the job that works off what waits, and its sensor."""
