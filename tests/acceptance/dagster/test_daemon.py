"""The sensor, a backfill and the audits with real processes: daemon, code server, webserver, a worker a run."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from argus_memory.db import Database
from tests.acceptance.hub import Hub, new_hub
from tests.helpers import wait_until
from tests.memory_rows import add_turn

CLOSED_TO_NOTE_SECONDS = 75.0
TODAY = datetime.now(UTC).replace(microsecond=0)
DAYS = [(TODAY - timedelta(days=back)).date().isoformat() for back in (2, 1, 0)]
SAID = [
    ("user", "Let us use Postgres for the garden's sensors, not SQLite."),
    ("assistant", "Agreed: the garden uses Postgres."),
    ("user", "I prefer tabs in all my Python files."),
]
BACKFILL = """mutation ($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) {
    __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""
LAUNCH = """mutation ($p: ExecutionParams!) { launchRun(executionParams: $p) {
    __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }"""
RUNS = """query ($f: RunsFilter) { runsOrError(filter: $f) { ... on Runs { results {
    runId status jobName tags { key value } } } } }"""
PARTITIONS = """query { assetNodes { assetKey { path } jobNames
    partitionStats { numMaterialized numFailed } hasAssetChecks } }"""


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    with new_hub() as made:
        made.start()
        yield made


@pytest.fixture(scope="module")
def store(hub: Hub) -> Iterator[Database]:
    """The hub's own database."""
    with Database(hub.argus("dsn").stdout.strip()) as database:
        yield database


def ask(hub: Hub, query: str, **variables: Any) -> Any:
    request = urllib.request.Request(
        f"http://127.0.0.1:{hub.dagster_port}/graphql",
        json.dumps({"query": query, "variables": variables}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.loads(response.read())["data"]


def runs_of(hub: Hub, **wanted: Any) -> list[dict[str, Any]]:
    return list(ask(hub, RUNS, f=wanted)["runsOrError"]["results"])


def ended(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return runs if runs and all(run["status"] in ("SUCCESS", "FAILURE", "CANCELED") for run in runs) else []


def converse(store: Database, session: str, start: datetime) -> None:
    for number, (role, text) in enumerate(SAID):
        add_turn(store, text, start + timedelta(seconds=number), role=role, session=session)
    with store.transaction() as conn:
        conn.execute(
            "insert into session_marks (session, source, mark, at) values (%s, 'claude-code', 'end', %s)",
            (session, start + timedelta(minutes=1)),
        )


def test_a_closed_conversation_becomes_notes_untouched(hub: Hub, store: Database) -> None:
    """A session that ended is distilled by the sensor's run alone, within 75 seconds; the trace names the run."""
    converse(store, "today", TODAY - timedelta(minutes=2))
    begin = time.monotonic()
    wait_until(
        lambda: store.fetch_all("select id from distilled_notes where deduped_at is not null"),
        seconds=CLOSED_TO_NOTE_SECONDS * 2,
        step=0.2,
        what="no note was made",
    )
    seconds = time.monotonic() - begin
    assert seconds < CLOSED_TO_NOTE_SECONDS
    (run,) = wait_until(lambda: ended(runs_of(hub, pipelineName="process_memory")), seconds=30, step=0.5)
    tags = {tag["key"]: tag["value"] for tag in run["tags"]}
    assert run["status"] == "SUCCESS"
    assert tags["dagster/sensor_name"] == "pending_memory"
    assert tags["argus/why"].startswith("1 tails due to close")
    assert store.fetch_all("select distinct run_id from stage_passes") == [{"run_id": run["runId"]}]


def test_the_days_are_seen_in_the_catalogue(hub: Hub) -> None:
    """Today's partition of each asset in days is materialized, raw items too, which no run of Dagster writes."""
    nodes = {node["assetKey"]["path"][0]: node for node in ask(hub, PARTITIONS)["assetNodes"]}
    for asset in ("raw_items", "turn_embeddings", "episodes", "distilled_notes", "note_embeddings"):
        assert nodes[asset]["partitionStats"] == {"numMaterialized": 1, "numFailed": 0}, asset


def test_a_backfill_of_days_is_one_run(hub: Hub, store: Database) -> None:
    """A backfill of three days started in the UI is one run, which makes the notes of these days anew."""
    answer = ask(hub, BACKFILL, p={"assetSelection": [{"path": ["distilled_notes"]}], "partitionNames": DAYS})[
        "launchPartitionBackfill"
    ]
    assert answer["__typename"] == "LaunchBackfillSuccess", answer
    tag = [{"key": "dagster/backfill", "value": answer["backfillId"]}]
    (run,) = wait_until(lambda: ended(runs_of(hub, tags=tag)), seconds=120, step=0.5)
    tags = {tag["key"]: tag["value"] for tag in run["tags"]}
    assert run["status"] == "SUCCESS"
    assert tags["dagster/asset_partition_range_start"] == DAYS[0]
    assert tags["dagster/asset_partition_range_end"] == DAYS[-1]
    made = store.fetch_all(
        "select mode, status, first_day::text, last_day::text, units from regenerations where run_id = %(run)s",
        {"run": run["runId"]},
    )
    units = store.fetch_one("select count(*)::int as n from distill_state")
    assert units
    assert made == [
        {"mode": "switch", "status": "switched", "first_day": DAYS[0], "last_day": DAYS[-1], "units": units["n"]}
    ]
    nodes = {node["assetKey"]["path"][0]: node for node in ask(hub, PARTITIONS)["assetNodes"]}
    assert nodes["distilled_notes"]["partitionStats"] == {"numMaterialized": 3, "numFailed": 0}


def test_the_audits_run_as_a_job(hub: Hub, store: Database) -> None:
    """audit_memory, started over GraphQL, evaluates every check and leaves none planned."""
    selector = {
        "repositoryLocationName": "argus",
        "repositoryName": "__repository__",
        "jobName": "audit_memory",
    }
    answer = ask(hub, LAUNCH, p={"selector": selector, "runConfigData": {}})["launchRun"]
    assert answer["__typename"] == "LaunchRunSuccess", answer
    wait_until(lambda: ended(runs_of(hub, runIds=[answer["run"]["runId"]])), seconds=180, step=0.5)
    rows = store.fetch_all(
        "select check_name, execution_status from dagster.asset_check_executions where run_id = %(run)s",
        {"run": answer["run"]["runId"]},
    )
    assert len(rows) >= 12
    assert {row["execution_status"] for row in rows} == {"SUCCEEDED"}
