"""`GET /metrics` in Prometheus' text form, by prometheus-client; any token reads it."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from starlette.responses import Response

from argus_api.auth import Level, require
from argus_api.hub import Here, utc_now
from argus_memory.watch.metrics import Metric, Metrics

if TYPE_CHECKING:
    from prometheus_client import Metric as Family

router = APIRouter(dependencies=[require(Level.CAPTURE)])


@router.get("/metrics")
def metrics(request: Request, hub: Here) -> Response:
    """Everything the tables tell in numbers; unknown is absent."""
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

    state = request.app.state
    if not hasattr(state, "metrics"):
        state.metrics = Metrics(hub.db, hub.settings)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Told(state.metrics.read(utc_now())))
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


class _Told:
    """Metrics as prometheus-client collects them."""

    def __init__(self, found: list[Metric]) -> None:
        self._found = found

    def collect(self) -> Iterable[Family]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        build = GaugeMetricFamily("argus_build_info", "the version that runs", labels=["version"])
        build.add_metric([version("argus")], 1)
        yield build
        for metric in self._found:
            family = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
            told = family(metric.name, metric.about, labels=list(metric.labels))
            for labels, value in metric.samples:
                told.add_metric(list(labels), value)
            if metric.samples:
                yield told
