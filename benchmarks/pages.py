"""How long the pages under /ui take on a large store: `python -m benchmarks.pages [--small] [--paint]`.

100,000 raw items, 20,000 notes, 100,000 injections and a year of task runs on an embedded Postgres with fsync; every
page is asked for 40 times in this process, signed in with the admin token. Prints p50, p95, size on the wire, and the
number of statements. Nothing is embedded: a search's time is without its embedding.
"""

from __future__ import annotations

import argparse
import logging
import shutil
import statistics
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import psycopg
from fastapi.testclient import TestClient

from argus_api.app import create_app
from argus_cli.embedded_postgres import EmbeddedPostgres
from argus_memory import migrate
from argus_memory.db import Database
from argus_memory.settings import Settings, load_settings
from argus_memory.watch.metrics import Metrics
from tests.filled_store import fill
from tests.ui.paths import FILLED
from tests.ui_client import BASE, count_queries

ROUNDS = 40
FULL = {"raw": 100_000, "notes": 20_000, "injections": 100_000, "runs": 365 * 24}
SMALL = {name: number // 20 for name, number in FULL.items()}

# Words as rare as those of a language: the n-th of 4,000 stands in every n-th sentence or so.
STORE = """
insert into raw_items (source, kind, body, session, project, project_method, project_confidence, cwd, metadata,
                       dedup_key, said_at, position, captured_at)
select 'claude-code', 'turn',
       (select 'turn ' || n || ' ' || string_agg('word' || floor(power(4000, random()))::int, ' ')
        from generate_series(1, 25 + n * 0) w),
       's' || n / 40, 'p' || n %% 25, 'cwd', 0.6, '/home/kim', '{"role": "user"}', md5('bench' || n),
       now() - n * interval '5 minutes', n, now() - n * interval '5 minutes'
from generate_series(1, %(raw)s) n;
insert into episodes (session, source, project, first_raw_id, last_raw_id, turn_count, block_count, started_at, ended_at,
                      boundary_reason, content_key, distilled_at)
select session, 'claude-code', min(project), min(raw_id), max(raw_id), count(*), count(*), min(said_at), max(said_at),
       'idle', md5(session), now()
from turns where episode_id is null group by session;
update turns t set episode_id = e.id, ordinal = 1 from episodes e where e.session = t.session and t.episode_id is null;
insert into distilled_notes (uid, text_key, raw_id, title, content, category, importance, confidence, project, source_ref,
                             role, said_at, model, valid_from, created_at, deduped_at)
select 'bench-' || r.id, md5('bench' || r.id), r.id, left(r.body, 60), r.body, 'fact', (r.id %% 10) / 10.0, 0.5, r.project,
       left(r.body, 40), 'user', r.said_at, 'bench', r.said_at, r.said_at, r.said_at
from raw_items r where r.body like 'turn %%' order by r.id limit %(notes)s;
insert into injections (at, session, query, project, prompt_mode, note_ids, note_scores, rrf_scores, skipped, floor,
                        characters, milliseconds, host)
select now() - n * interval '3 minutes', 's' || n / 9, 'where is the word' || n %% 900, 'p' || n %% 25, true,
       array[1 + n %% %(notes)s], '{0.4}', '{0.02}', null, 0.015, 100, n %% 90, 'bench'
from generate_series(1, %(injections)s) n;
insert into task_runs (rid, task, handler, started_by, due_at, host, started_at, beat_at, finished_at, outcome, exit_code)
select gen_random_uuid(), 'read-feeds', 'code', 'schedule', at, 'hub', at, at, at + interval '3 seconds', 'ok', 0
from (select now() - n * interval '1 hour' as at from generate_series(1, %(runs)s) n) t;
insert into stage_passes (stage, started_at, finished_at, outcome, counts)
select (array['segment','distill','embed','dedup'])[1 + n %% 4], now() - n * interval '2 minutes',
       now() - n * interval '2 minutes', 'ok', '{"notes": 1}' from generate_series(1, %(raw)s / 4) n;
"""
SEARCHES = {
    "search-words": "/ui/search?q=word900+and+word45",
    "search-narrowed": "/ui/search?q=word900+word45&project=p3&since=90d&source=claude-code",
    "search-any-state": "/ui/search?q=word900+word45&state=any",
    "browse-project": "/ui/search?project=p3",
    "browse-raw": "/ui/search?type=turn",
    "browse-deep": "/ui/search?type=note&after=2026-06-01T00:00:00Z~1",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a twentieth of the store")
    parser.add_argument("--paint", action="store_true", help="also first paint and bytes in headless Chromium")
    parser.add_argument("--only", metavar="TEXT", default="", help="pages whose name holds it")
    options = parser.parse_args()
    sizes = SMALL if options.small else FULL
    logging.disable(logging.INFO)
    folder = Path(tempfile.mkdtemp(prefix="argus-pages-"))
    folder.chmod(0o755)
    server = EmbeddedPostgres(folder / "postgres")
    try:
        server.start()
        migrate.upgrade(server.dsn())
        settings = load_settings({
            "ARGUS_HOME": str(folder / "home"), "ARGUS_DATABASE_URL": server.dsn(), "ARGUS_ADMIN_TOKEN": "x" * 24,
        })  # fmt: skip
        settings = replace(settings, tasks=settings.home / "tasks")
        settings.home.mkdir()
        app = create_app(settings)
        with app.state.hub.db as db:
            filled = fill(db, settings, datetime.now(UTC))
            with psycopg.connect(server.dsn(), autocommit=True) as conn:
                for part in STORE.split(";\n"):
                    if part.strip():
                        conn.execute(part, sizes)
                conn.execute("vacuum analyze")
            client = TestClient(app, base_url=BASE, headers={"authorization": f"Bearer {settings.admin_token}"})
            paths = {name: path(filled) for name, path in FILLED.items()} | SEARCHES
            paths = {name: path for name, path in paths.items() if options.only in name}
            print(f"{'page':<20}{'p50 ms':>8}{'p95 ms':>8}{'bytes':>9}{'statements':>12}")
            for name, path in paths.items():
                measure(client, name, path)
            if options.only in "metrics":
                measure_metrics(db, settings)
            if options.paint:
                from benchmarks.page_paint import measure_paint  # Chromium need not be there otherwise

                measure_paint(app, settings, paths)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def measure(client: TestClient, name: str, path: str) -> None:
    client.get(path)
    with count_queries() as sent:
        client.get(path)
    took = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        answer = client.get(path)
        took.append((time.perf_counter() - began) * 1000)
    p95 = statistics.quantiles(took, n=20)[18]
    size = int(answer.headers["content-length"])
    print(f"{name:<20}{statistics.median(took):>8.1f}{p95:>8.1f}{size:>9,}{len(sent):>12}")


def measure_metrics(db: Database, settings: Settings) -> None:
    """A reading of all tables for /metrics, which its requests share for ten seconds."""
    took = []
    for _ in range(ROUNDS // 4):
        began = time.perf_counter()
        with count_queries() as sent:
            Metrics(db, settings).read(datetime.now(UTC))
        took.append((time.perf_counter() - began) * 1000)
    print(f"{'metrics, read anew':<20}{statistics.median(took):>8.1f}{max(took):>8.1f}{'':>9}{len(sent):>12}")


if __name__ == "__main__":
    main()
