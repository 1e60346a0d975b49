"""Argus's memory: everything that turns what was said into what is remembered.

The spine, in the order a turn travels it; every stage reads a table, writes a table and leaves an audit row:

    capture   stages/capture.py    POST /capture       → raw_items (append-only), turns, redactions, capture_outcomes
    segment   stages/segment.py    turns               → episodes, segment_checks
    distill   stages/distill.py    episodes, raw_items → distilled_notes, gate_rejections, distill_failures, llm_calls
    embed     stages/embed.py      turns, notes        → turn_vectors, note_vectors (by embedding space)
    dedup     stages/dedup.py      distilled_notes     → dedup_log
    recall    stages/recall.py     notes and turns     → injections (the ledger: an empty recall is a row too)

Beside it, what proves that things happen:

    decide    upkeep/decisions.py  a person, an agent  → note_decisions, asked by every path that makes notes
    history   triggers             every change        → note_events, withheld_turns
    anew      upkeep/regeneration  raw items           → regenerations with snapshot and diff, then one switch
    impact    stages/impact.py     shown notes, answer → injection_uses
    files     stages/note_files.py notes, git          → note_files (changed since?)
    projects  stages/centroids.py  vectors             → project_centroids, project_attributions, mismatches
    to-dos    stages/task_items.py notes, turns, runs  → task_items, task_events
    tasks     tasks/runner.py      config.ini          → task_runs (each run is reported, whatever becomes of it)
    ledger    watch/ledger.py      schedules, runs     → expected_runs, alerts
    outbox    watch/sender.py      deliveries          → Telegram, webhook, ntfy; delivery_attempts
    audits    watch/audits/        every table         → audit_results, alerts
    health    watch/health.py      one question a part → /healthz, doctor, digest, checks

`upkeep/process_all.py` runs segment → … → dedup once; `sql/` holds the named queries, one file a stage; `rules/`
and `transcripts/` are pure. Every pass of every stage is a row in `stage_passes`, also when it did nothing.

The three faces (argus_assets: Dagster, argus_api: HTTP, argus_cli: the command) parse, call and translate;
they hold no rule of memory. This package imports neither dagster nor fastapi.
"""
