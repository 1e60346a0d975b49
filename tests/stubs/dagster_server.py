"""A loopback stand-in for the Dagster webserver's GraphQL: one job, runs that go through given states."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class DagsterServer:
    """`states`: what each launched run is, one more each time it is asked; the last one stays. `on_launch` is called
    with the run's id. `broken`: its GraphQL answers HTTP 500; `asked`: how many questions came."""

    def __init__(
        self, job: str = "process_memory", states: tuple[str, ...] = ("QUEUED", "STARTED", "SUCCESS")
    ) -> None:
        self.job, self.states = job, states
        self.launched: list[dict[str, Any]] = []
        self.at_work: list[str] = []
        self.refuse: str | None = None
        self.code_error: str | None = None  # why the code location does not load
        self.stopped: list[str] = []  # sensors that do not run
        self.tasks: list[str] = []  # what the code location has after a reload
        self.reloads = 0
        self.asked = 0
        self.broken = False
        self.on_launch: Any = None
        self._asked: dict[str, int] = {}
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.port = self._http.server_address[1]

    def __enter__(self) -> DagsterServer:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def answer(self, query: str, variables: dict[str, Any]) -> dict[str, Any]:
        self.asked += 1
        if "reloadRepositoryLocation" in query:
            return {"reloadRepositoryLocation": self._reload(variables["name"])}
        if "workspaceOrError" in query:
            return {"workspaceOrError": {"__typename": "Workspace", "locationEntries": [self._location()]}}
        if "launchRun" in query:
            return {"launchRun": self._launch(variables["params"])}
        if "repositoriesOrError" in query:
            jobs = [{"name": job} for job in (self.job, *(["run_tasks"] if self.tasks else []))]
            assets = [{"assetKey": {"path": ["task", name]}, "jobNames": ["__ASSET_JOB", "run_tasks"]} for name in self.tasks]
            broken = {"assetKey": {"path": ["task", "bad"]}, "jobNames": []}
            node = {"name": "__repository__", "location": {"name": "argus"}, "jobs": jobs, "assetNodes": [*assets, broken]}
            return {"repositoriesOrError": {"__typename": "RepositoryConnection", "nodes": [node]}}
        if "runsOrError" in query:
            return {"runsOrError": {"__typename": "Runs", "results": [{"runId": run} for run in self.at_work]}}
        run = variables["run"]
        place = self._asked[run] = self._asked.get(run, -1) + 1
        if run in self.at_work:
            self.at_work.remove(run)
        return {"runOrError": {"__typename": "Run", "status": self.states[min(place, len(self.states) - 1)]}}

    def _location(self) -> dict[str, Any]:
        place: dict[str, Any] = {"__typename": "PythonError", "message": self.code_error, "cause": None}
        if self.code_error is None:
            sensors = [{"name": name, "sensorState": {"status": "STOPPED"}} for name in self.stopped]
            repository = {"sensors": sensors, "schedules": []}
            place = {"__typename": "RepositoryLocation", "repositories": [repository]}
        return {"name": "argus", "loadStatus": "LOADED", "locationOrLoadError": place}

    def _reload(self, name: str) -> dict[str, Any]:
        if name != "argus":
            return {"__typename": "RepositoryLocationNotFound", "message": f"no location {name}"}
        self.reloads += 1
        return {"__typename": "WorkspaceLocationEntry"}

    def _launch(self, params: dict[str, Any]) -> dict[str, Any]:
        if self.refuse:
            return {"__typename": "PythonError", "message": self.refuse}
        self.launched.append(params)
        run = f"run-{len(self.launched)}"
        if self.on_launch:
            self.on_launch(run)
        return {"__typename": "LaunchRunSuccess", "run": {"runId": run}}


def _handler(server: DagsterServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(b"{}")

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            code = 500 if server.broken else 200
            self._send(json.dumps({"data": server.answer(asked["query"], asked["variables"])}).encode(), code)

        def _send(self, body: bytes, code: int = 200) -> None:
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: object) -> None:
            return

    return Handler
