"""Threads on one policy: every decision is checked afterwards against a policy that made the same rounds alone.

`run` starts a process for every storm, so that a crash is a failure and not the end. `tests/attack/test_attack_threads.py` runs them
for long, `tests/policy/test_lock.py` for a moment.
"""

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import hsb
import hsb.logs
from hsb.policy.transaction import learn_round

THREADS = 4


class Own(hsb.Policy):
    """A user's policy, with scratch space."""

    def __init__(self, *, arms: Any, **common: Any) -> None:
        super().__init__(arms=arms, **common)
        self.lost = np.ones(len(self.arms))
        self._scratch = np.empty(len(self.arms))

    def distribution(self, context: Any) -> Any:
        self._scratch[:] = np.exp(-self.lost / self.lost.sum() * (1.0 + context))
        return self._scratch

    def update(self, context: Any, index: int, loss: float, propensity: float) -> None:
        self.lost[index] += loss / propensity

    def settings(self) -> dict[str, Any]:
        return {}


def alone(rate: float | None = None) -> hsb.Policy:
    return hsb.HSB(hsb.BinaryTree(depth=40), arms=3, learning_rate=rate, seed=0)


MAKERS: dict[str, Callable[[], hsb.Policy]] = {
    "HSB": lambda: alone(0.05),
    "default": alone,
    "dense": lambda: hsb.HSB(hsb.BinaryTree(depth=6), arms=3, learning_rate=0.05, seed=0),
    "features": lambda: hsb.HSB(arms=3, seed=0),
    "TreeThompson": lambda: hsb.TreeThompson(hsb.BinaryTree(depth=20), arms=3, seed=0),
    "LinUCB": lambda: hsb.LinUCB(1, arms=3, seed=0),
    "Exp3": lambda: hsb.Exp3(arms=3, seed=0),
    "Exp4": lambda: hsb.Exp4(
        [lambda x: 0, lambda x: [0.2, 0.3, 0.5], lambda x: int(x > 0.5)], arms=3, learning_rate=0.1, seed=0
    ),
    "CsbFtpl": lambda: hsb.CsbFtpl(hsb.BinaryTree(depth=4), arms=3, horizon=10_000, seed=0),
    "own": lambda: Own(arms=3, floor=0.1, seed=0),
}


def together(works: list[Callable[[], None]]) -> list[str]:
    """Run functions at once; return the exceptions that they raised."""
    wrong: list[str] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            wrong.append(repr(error))

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong


def frozen(make: Callable[[], hsb.Policy], seconds: float) -> dict[str, Any]:
    """Decide without learning: every decision must equal `choose` on a copy."""
    policy, rng = make(), np.random.default_rng(1)
    hsb.simulate(policy, rng.random(300), (rng.random((300, 3)) < 0.5).astype(float))
    pairs = list(zip(rng.random(2000).tolist(), rng.random(2000).tolist(), strict=True))
    twin = policy.copy()
    right = [twin.choose(x, u=u) for x, u in pairs]
    counts, until = [0] * THREADS, time.monotonic() + seconds
    bad: list[int] = []

    def work(number: int) -> None:
        order = np.random.default_rng(number).permutation(len(pairs)).tolist()
        while time.monotonic() < until:
            for k in order:
                x, u = pairs[k]
                decision = policy.decide(x, u=u)
                counts[number] += 1
                if (decision.arm, decision.propensity) != right[k]:
                    bad.append(k)

    raised = together([lambda number=number: work(number) for number in range(THREADS)])
    same = policy.ledger.issued == sum(counts) and policy.digest() == twin.digest()
    return {"decisions": sum(counts), "wrong": len(bad) + (not same), "raised": raised}


def learning(make: Callable[[], hsb.Policy], seconds: float) -> dict[str, Any]:
    """Decisions, feedback, files: each decision and each file must be what the same rounds, one after the other, give."""
    policy, until = make(), time.monotonic() + seconds
    fresh, results, files = policy.copy(), [[] for _ in range(THREADS)], []  # type: ignore[var-annotated]
    folder = tempfile.TemporaryDirectory()
    double = [0]

    def work(number: int) -> None:
        rng = np.random.default_rng(number)
        late = []
        while time.monotonic() < until:
            x, u = rng.random(2).tolist()
            results[number].append((policy.decide(x, u=u), u))
            late.append(results[number][-1][0])
            if len(late) > 3:
                decision = late.pop(int(rng.integers(len(late))))
                decision.context = float(decision.context)
                policy.learn(decision, loss=float(decision.arm == (decision.context > 0.5)))
                try:
                    policy.learn(decision, loss=1.0)
                    double[0] += 1
                except hsb.InputError:
                    pass

    def keep() -> None:
        while time.monotonic() < until:
            path = Path(folder.name) / f"{len(files)}.hsb"
            if isinstance(policy, hsb.Exp4):
                files.append((policy.copy(), None))
            else:
                policy.save(path)
                files.append((hsb.load(path), path))
            time.sleep(0.01)

    raised = together([*(lambda number=number: work(number) for number in range(THREADS)), keep])
    every = sorted((pair for some in results for pair in some), key=lambda pair: pair[0].memo.rounds)
    learned = sorted((pair[0] for pair in every if pair[0]._learned_by), key=lambda decision: decision._learned_by[0][1])
    kept = sorted(files, key=lambda pair: pair[0].rounds)
    bad, unlike, at, next_file = 0, 0, 0, 0
    fresh.ledger.bits = bytearray(len(policy.ledger.bits))  # so that decisions may count as its own
    for decision in [*learned, None]:
        while at < len(every) and every[at][0].memo.rounds == fresh.rounds:
            given, u = every[at]
            bad += fresh.choose(given.context, u=u) != (given.arm, given.propensity)
            at += 1
        while next_file < len(kept) and kept[next_file][0].rounds == fresh.rounds:
            unlike += kept[next_file][0].digest() != fresh.digest()
            next_file += 1
        if decision is not None:
            learn_round(
                fresh,
                decision,
                None,
                fresh.arm_set.index[decision.arm],
                True,
                float(decision.arm == (decision.context > 0.5)),
                False,
            )
    folder.cleanup()
    whole = at == len(every) and next_file == len(kept) and fresh.digest() == policy.digest() and fresh.rounds == len(learned)
    return {
        "decisions": len(every),
        "learned": len(learned),
        "files": len(files),
        "wrong": bad + unlike + double[0] + (not whole),
        "raised": raised,
    }


def arms(make: Callable[[], hsb.Policy], seconds: float) -> dict[str, Any]:
    """Arms come and go while others decide, learn and save."""
    policy, until = make(), time.monotonic() + seconds
    counts, bad = [0] * THREADS, [0]

    def work(number: int) -> None:
        rng = np.random.default_rng(number)
        while time.monotonic() < until:
            decision = policy.decide(float(rng.random()))
            counts[number] += 1
            bad[0] += not 0.0 < decision.propensity <= 1.0
            policy.learn(decision, loss=float(rng.random() < 0.5))
            p = policy.probabilities(float(rng.random()))
            bad[0] += not abs(p.sum() - 1.0) < 1e-9

    def change() -> None:
        number = 3
        while time.monotonic() < until:
            if number < 60 and not isinstance(policy, hsb.Exp4 | Own):
                policy.add_arm(number)
                number += 1
            policy.remove_arm(0)
            policy.add_arm(0)

    def keep() -> None:
        with tempfile.TemporaryDirectory() as folder:
            while time.monotonic() < until:
                if isinstance(policy, hsb.Exp4):
                    policy.copy().decide(0.5)
                else:
                    policy.save(Path(folder) / "policy.hsb")
                    hsb.load(Path(folder) / "policy.hsb").decide(0.5)

    raised = together([*(lambda number=number: work(number) for number in range(THREADS)), change, keep])
    return {"decisions": sum(counts), "wrong": bad[0] + (policy.rounds != sum(counts)), "raised": raised}


def replayed(make: Callable[[], hsb.Policy], seconds: float) -> dict[str, Any]:
    """A log is replayed and learned in compiled code that lets other threads run, which decide and learn."""
    policy, until, rng = make(), time.monotonic() + seconds, np.random.default_rng(0)
    n = 20_000
    batch = hsb.logs.Batch.of(
        contexts=rng.random((n, 1)),
        arm=rng.integers(0, 3, n),
        reward=rng.random(n),
        propensity=np.full(n, 1 / 3),
        arms=[0, 1, 2],
    )
    counts, taken = [0] * THREADS, [0]

    def work(number: int) -> None:
        rng = np.random.default_rng(number)
        while time.monotonic() < until:
            policy.learn(policy.decide(float(rng.random())), loss=float(rng.random() < 0.5))
            counts[number] += 1

    def read() -> None:
        while time.monotonic() < until:
            taken[0] += hsb.replay(policy, [batch], context=lambda rows: rows[:, 0]).matched
            taken[0] += hsb.simulate(policy, rng.random(500), rng.random((500, 3))).arms.size

    raised = together([*(lambda number=number: work(number) for number in range(THREADS)), read])
    p = policy.probabilities(0.3)
    return {
        "decisions": sum(counts) + taken[0],
        "wrong": int(policy.rounds != sum(counts) + taken[0]) + int(not abs(p.sum() - 1.0) < 1e-9),
        "raised": raised,
    }


STORMS = {"frozen": frozen, "learning": learning, "arms": arms, "replayed": replayed}


def run(storm: str, kind: str, seconds: float, interval: float = 1e-6) -> dict[str, Any]:
    """Run a storm in a separate process; return its counts."""
    command = [sys.executable, __file__, storm, kind, str(seconds), str(interval)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20 * seconds + 300, check=False)
    if done.returncode != 0:
        return {"crashed": done.returncode, "said": done.stderr[-2000:]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def once(times: int) -> None:
    """Several threads learn one decision at the same moment."""
    policy = MAKERS["HSB"]()
    taken: list[int] = []
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for t in range(times):
            decision, start = policy.decide(0.3), threading.Barrier(3)

            def work(decision: hsb.Decision = decision, start: threading.Barrier = start, t: int = t) -> None:
                start.wait()
                try:
                    policy.learn(decision, loss=0.5)
                    taken.append(t)
                except hsb.InputError:
                    pass

            assert together([work] * 3) == []
    finally:
        sys.setswitchinterval(before)
    assert len(taken) == policy.rounds == times


if __name__ == "__main__":
    sys.setswitchinterval(float(sys.argv[4]))
    print(json.dumps(STORMS[sys.argv[1]](MAKERS[sys.argv[2]], float(sys.argv[3]))))
