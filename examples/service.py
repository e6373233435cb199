"""Several processes decide, one learns: the file that it writes is swapped while they run.

    python examples/service.py

Workers (as gunicorn's, or any others) decide by `hsb.Following`, which loads the file again when it has changed. What came of a decision goes,
with the decision as plain data, into a queue; it may be delivered late, in any order, or twice. One process learns from the queue and saves
the file now and then. A save replaces the file in one step, so a worker reads the old policy or the new one, never half of each.
"""

import contextlib
import multiprocessing
import os
import queue
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import hsb

ARMS = ["long", "short", "none"]


class Learning:
    """The one process that learns. Saves after so many updates or seconds, whichever comes first."""

    def __init__(self, policy: hsb.Policy, path: Path, *, updates: int = 100, seconds: float = 1.0) -> None:
        self.policy, self.path, self.updates, self.seconds = policy, path, updates, seconds
        self.refused = self.waiting = 0
        self.save()

    def learn(self, data: dict[str, Any], reward: float) -> None:
        """One message of the queue."""
        try:
            self.policy.learn(hsb.Decision.from_dict(data), reward=reward)
            self.waiting += 1
        except hsb.InputError:  # delivered twice, or damaged: nothing has changed
            self.refused += 1
        if self.waiting >= self.updates or time.monotonic() - self.saved >= self.seconds:
            self.save()

    def save(self) -> None:
        """Swap the file."""
        self.policy.save(self.path)
        self.waiting, self.saved = 0, time.monotonic()


def work(path: Path, updates: Any, decisions: int, report: Any) -> None:
    """A worker that serves a toy world, and whose queue delivers everything twice."""
    deciding, rewards = hsb.Following(path, every=0.05), []
    arms = []
    for t in range(decisions):
        context = (t * 0.618034) % 1.0
        decision = deciding.decide(context)
        reward = float(decision.arm == ARMS[int(3 * context)])
        for _ in range(2):
            updates.put((decision.to_dict(), reward))
        rewards.append(reward)
        arms.append(decision.arm)
        time.sleep(0.001)
    report.put({"rewards": rewards, "arms": arms, "loads": deciding.loads})


def serve(path: Path, *, workers: int = 3, decisions: int = 500) -> tuple[Learning, list[dict[str, Any]]]:
    """Workers, and this process as the one that learns; what each worker saw."""
    how = multiprocessing.get_context("fork" if hasattr(os, "fork") else "spawn")
    updates, report = how.Queue(), how.Queue()
    learning = Learning(hsb.HSB(hsb.BinaryTree(depth=6), arms=ARMS, seed=0), path)
    twin = hsb.load(path)
    twin.learn(twin.decide(0.5), reward=1.0)  # loads the compiled code once, before the fork, for all
    running = [how.Process(target=work, args=(path, updates, decisions, report)) for _ in range(workers)]
    for each in running:
        each.start()
    seen = []
    while len(seen) < workers or not updates.empty():
        with contextlib.suppress(queue.Empty):
            learning.learn(*updates.get(timeout=0.1))
        while not report.empty():
            seen.append(report.get())
    for each in running:
        each.join()
    while learning.policy.rounds + learning.refused < 2 * workers * decisions:  # what is still in the pipe
        learning.learn(*updates.get(timeout=5))
    learning.save()
    return learning, seen


def main() -> int:
    """Show it."""
    with tempfile.TemporaryDirectory() as folder:
        learning, seen = serve(Path(folder) / "policy.hsb")
    early = sum(sum(each["rewards"][:100]) for each in seen) / (100 * len(seen))
    late = sum(sum(each["rewards"][-100:]) for each in seen) / (100 * len(seen))
    print(
        f"{learning.policy.rounds} updates learned, {learning.refused} delivered twice; loads: {[each['loads'] for each in seen]}"
    )
    print(f"average reward: {early:.2f} in the first 100 decisions of each worker, {late:.2f} in the last 100")
    return 0


if __name__ == "__main__":
    sys.exit(main())
