"""Metrics for Prometheus, in a separate registry. Counters of the core are read when the metrics are requested."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from ..core.known import known_arms
from ..core.messages import Committed, Failed

if TYPE_CHECKING:
    from .service import Service

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
ROWS = (1, 4, 16, 64, 256, 1024, 4096)


class Metrics(Collector):
    """Counts of requests and commits, and the core's counts."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.registry = CollectorRegistry()
        self.answers: dict[
            tuple[str, int], list[float]
        ] = {}  # by endpoint and status: the sum of seconds, then the count of each bucket
        self.commits = Histogram("hsb_commit_seconds", "Seconds that commits took", buckets=SECONDS, registry=self.registry)
        self.rows = Histogram("hsb_commit_rows", "Requests in a commit", buckets=ROWS, registry=self.registry)
        self.failed = Counter("hsb_failed_commits", "Commits that failed", ["why"], registry=self.registry)
        self.registry.register(self)

    def count_answer(self, endpoint: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        sums = self.answers.get((endpoint, status))
        if sums is None:
            sums = self.answers[endpoint, status] = [0.0] * (len(SECONDS) + 2)
        sums[0] += seconds
        sums[1 + bisect_left(SECONDS, seconds)] += 1

    def count_commit(self, seconds: float, message: Committed | Failed) -> None:
        """Count a commit, successful or failed."""
        self.commits.observe(seconds)
        if isinstance(message, Failed):
            self.failed.labels(message.why).inc()
        else:
            self.rows.observe(len(message.outcomes))

    def collect(self) -> Iterator[Any]:
        """Yield the counts of requests, the core, its policies and rejections."""
        seconds = HistogramMetricFamily(
            "hsb_request_seconds", "Seconds that requests took, by endpoint and status", labels=["endpoint", "status"]
        )
        for (endpoint, status), (total, *counts) in sorted(self.answers.items()):
            ends = [*map(str, SECONDS), "+Inf"]
            seconds.add_metric([endpoint, str(status)], list(zip(ends, accumulate(counts), strict=True)), total)
        yield seconds
        core = self.service.core
        for name, count in core.counts.items():
            yield CounterMetricFamily(f"hsb_{name}", f"{name.capitalize()} since the start", value=count)
        yield GaugeMetricFamily("hsb_queue", "Requests that wait to be written", value=len(core.waiting) + len(core.last))
        yield GaugeMetricFamily("hsb_clock_held", "1 while deadlines are held, since the clock jumped", value=core.clock.held)
        version = GaugeMetricFamily("hsb_policy_version", "Rows of the stream that a policy has learned", labels=["policy"])
        updates = CounterMetricFamily("hsb_policy_updates", "Updates of a policy", labels=["policy"])
        known = GaugeMetricFamily(
            "hsb_policy_known_arms", "Arms with a model, of a policy whose arms come with requests", labels=["policy"]
        )
        for served in core.by_id.values():
            if (arms := known_arms(served, 0)) is not None:
                known.add_metric([served.name], arms.number)
            version.add_metric([served.name], served.version)
            updates.add_metric([served.name], served.updates)
        yield version
        yield updates
        yield known
        rejections = CounterMetricFamily("hsb_rejections", "Rejected requests", labels=["policy", "kind"])
        for (policy, kind), count in self.service.rejections.counts().items():
            rejections.add_metric([policy, kind], count)
        yield rejections

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self.registry)
