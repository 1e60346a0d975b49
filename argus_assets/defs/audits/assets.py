"""What is written by tasks, watchdogs and the sender, as external assets: so that their checks stand somewhere."""

from __future__ import annotations

import dagster as dg

GROUP = "watch"

task_runs = dg.AssetSpec(
    "task_runs",
    group_name=GROUP,
    kinds={"postgres"},
    description="Tasks, the due ledger and a report of every run. Written by the runner and both watchdogs.",
)
deliveries = dg.AssetSpec(
    "deliveries",
    group_name=GROUP,
    deps=["task_runs"],
    kinds={"postgres"},
    description="Alerts and the outbox that carries them. Written by whoever sees a change, sent by the API.",
)
audit_results = dg.AssetSpec(
    "audit_results",
    group_name=GROUP,
    deps=["raw_items", "distilled_notes", "injections", "task_runs", "deliveries"],
    kinds={"postgres"},
    description="Answers of the audits, service levels, canaries and health over time.",
)
