"""Metrics for Prometheus, in a registry of their own. Counters of the core are read when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from ..core.messages import Committed, Failed

if TYPE_CHECKING:
    from .service import Service

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
ROWS = (1, 4, 16, 64, 256, 1024, 4096)


class Metrics(Collector):
    """What is counted beside the core, and the core's own counts."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.registry = CollectorRegistry()
        self.seconds = Histogram("hsb_request_seconds", "Of requests", ["endpoint"], buckets=SECONDS, registry=self.registry)
        self.answers = Counter("hsb_answers", "Answers by endpoint and status", ["endpoint", "status"], registry=self.registry)
        self.commits = Histogram("hsb_commit_seconds", "Of commits", buckets=SECONDS, registry=self.registry)
        self.rows = Histogram("hsb_commit_rows", "Orders of a commit", buckets=ROWS, registry=self.registry)
        self.failed = Counter("hsb_failed_commits", "Commits that failed", ["why"], registry=self.registry)
        self.known: dict[tuple[str, int], tuple[Any, Any]] = {}
        self.registry.register(self)

    def answered(self, endpoint: str, status: int, seconds: float) -> None:
        """A request was answered."""
        pair = self.known.get((endpoint, status))
        if pair is None:
            pair = self.known[endpoint, status] = (self.seconds.labels(endpoint), self.answers.labels(endpoint, str(status)))
        pair[0].observe(seconds)
        pair[1].inc()

    def committed(self, seconds: float, message: Committed | Failed) -> None:
        """A batch came back."""
        self.commits.observe(seconds)
        if isinstance(message, Failed):
            self.failed.labels(message.why).inc()
        else:
            self.rows.observe(len(message.outcomes))

    def collect(self) -> Iterator[Any]:
        """What the core knows."""
        core = self.service.core
        for name, count in core.counts.items():
            yield CounterMetricFamily(f"hsb_{name}", f"{name.capitalize()} since the start", value=count)
        yield GaugeMetricFamily("hsb_queue", "Requests that wait to be written", value=len(core.waiting) + len(core.last))
        yield GaugeMetricFamily("hsb_clock_held", "1 while deadlines are held, since the clock jumped", value=core.clock.held)
        version = GaugeMetricFamily("hsb_policy_version", "Rows of the stream that a policy has learned", labels=["policy"])
        lessons = CounterMetricFamily("hsb_policy_lessons", "Lessons of a policy", labels=["policy"])
        for served in core.by_id.values():
            version.add_metric([served.name], served.version)
            lessons.add_metric([served.name], served.lessons)
        yield version
        yield lessons
        problems = CounterMetricFamily("hsb_problems", "Requests that were refused", labels=["policy", "kind"])
        for (policy, kind), count in self.service.troubles.counts().items():
            problems.add_metric([policy, kind], count)
        yield problems

    def text(self) -> bytes:
        """As Prometheus reads it."""
        return generate_latest(self.registry)
