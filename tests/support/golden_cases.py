"""Policies and scenarios whose every decision and every bit of state is recorded in `goldens.json`.

`tests/policies/test_goldens.py` compares. Only the public interface is used, so that the cases outlive any change inside.

    python tests/support/golden_cases.py --write                 # record again: only for an intended change of behaviour
    python tests/support/golden_cases.py --show "HSB" "late"     # the hashed lines, to compare two versions of the library
"""

import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import hsb
import hsb.logs

FILE = Path(__file__).parent / "goldens.json"
PARTS = ("decisions", "arrays", "numbers", "probabilities", "explanation")
ROUNDS, MANY = 300, 5000
TREE = hsb.BinaryTree(depth=3)
SQUARE = hsb.Box([0.0, 0.0], [1.0, 1.0])
ABC = ["a", "b", "c"]
SHOP = {
    "boot": {"kind": "shoes", "price": 80.0},
    "sandal": {"kind": "shoes", "price": 30.0},
    "cap": {"kind": "hats", "price": 15.0},
    "hood": {"kind": "hats"},
}


def first(context: Any) -> int:
    return 0


def halves(context: Any) -> list[float]:
    return [0.5, 0.5, 0.0] if context < 0.5 else [0.0, 0.0, 1.0]


class Case(NamedTuple):
    """A policy and its world."""

    make: Callable[..., hsb.Policy]
    """Makes the policy; further settings may be given by name."""
    world: str = "line"
    """Its contexts: "line", numbers; "box", pairs; "dicts", mixed features that change over time; "beyond", numbers outside the space."""
    scale: str = "unit"
    """Its losses: "unit", in [0, 1]; "beyond", some outside it; "growing", in a range that widens with time."""
    widens: bool = True
    """Can arms be added that it was not made with?"""
    again: dict[str, Any] = {}  # noqa: RUF012  never changed
    """What `hsb.load` must be given."""
    implicit: bool = False
    """Has it a certificate with a delta?"""
    log: str = "numbers"
    """How a log gives its contexts: "numbers"; "rows", then also when it plays on; "names", as columns of a table."""


CASES: dict[str, Case] = {
    "HSB": Case(lambda **more: hsb.HSB(TREE, arms=3, seed=1, **more)),
    "HSB, horizon": Case(lambda **more: hsb.HSB(TREE, arms=3, horizon=1000, seed=1, **more)),
    "HSB, drift": Case(lambda **more: hsb.HSB(TREE, arms=3, drift=1e-3, seed=1, **more)),
    "HSB, rate and advisor": Case(lambda **more: hsb.HSB(TREE, arms=3, learning_rate=0.1, drift="auto", seed=1, **more)),
    "HSB, features": Case(lambda **more: hsb.HSB(arms=3, seed=1, **more), log="rows"),
    "HSB, declared": Case(lambda **more: hsb.HSB(features=hsb.Features(x=hsb.Number()), arms=3, seed=1, **more), log="names"),
    "Exp3": Case(lambda **more: hsb.Exp3(arms=3, horizon=1000, seed=1, **more)),
    "SExp3": Case(lambda **more: hsb.SExp3(TREE, arms=3, learning_rate=0.3, seed=1, **more)),
    "SExp3, cells": Case(lambda **more: hsb.SExp3(5, arms=3, seed=1, **more)),
    "Exp4": Case(
        lambda **more: hsb.Exp4([first, halves], arms=3, horizon=1000, seed=1, **more),
        widens=False,
        again={"experts": [first, halves]},
    ),
    "Exp4, mappings": Case(
        lambda **more: hsb.Exp4(hsb.mappings(TREE, arms=3, regions=2), arms=3, horizon=1000, seed=1, **more), widens=False
    ),
    "MixtureOfMappings": Case(
        lambda **more: hsb.MixtureOfMappings(hsb.BinaryTree(depth=2), arms=3, learning_rate=0.1, seed=1, **more), widens=False
    ),
    "CsbFtpl": Case(lambda **more: hsb.CsbFtpl(TREE, arms=3, horizon=1000, seed=1, **more)),
    "CsbFtpl, regions": Case(lambda **more: hsb.CsbFtpl(TREE, arms=3, horizon=1000, regions=2, seed=1, **more)),
    "EpochGreedy": Case(lambda **more: hsb.EpochGreedy(TREE, arms=3, seed=1, **more)),
    "LinUCB": Case(lambda **more: hsb.LinUCB(1, arms=3, seed=1, **more)),
    "TreeThompson": Case(lambda **more: hsb.TreeThompson(TREE, arms=3, seed=1, **more)),
    "TreeThompson, forgetting": Case(lambda **more: hsb.TreeThompson(TREE, arms=3, forgetting=0.99, seed=1, **more)),
    "Uniform": Case(lambda **more: hsb.Uniform(arms=3, seed=1, **more)),
    "BestFixed": Case(lambda **more: hsb.BestFixed(TREE, arms=3, mapping=[0, 0, 1, 1, 2, 2, 0, 1], seed=1, **more)),
    # of the defaults, what the list above leaves out
    "HSB, deep": Case(lambda **more: hsb.HSB(hsb.BinaryTree(depth=30), arms=3, seed=2, **more)),
    "HSB, position splits": Case(lambda **more: hsb.HSB(hsb.PositionSplits(bits=[2, 2]), arms=3, seed=2, **more), "box"),
    "HSB, lexicographic": Case(lambda **more: hsb.HSB(hsb.Lexicographic(leaves=8), arms=3, seed=2, **more)),
    "HSB, one of": Case(
        lambda **more: hsb.HSB(hsb.OneOf(TREE, hsb.KaryTree(k=3, depth=2), hsb.Lexicographic(leaves=6)), arms=3, seed=2, **more)
    ),
    "HSB, box": Case(lambda **more: hsb.HSB(hsb.BinaryTree(depth=6, space=SQUARE), arms=3, seed=2, **more), "box"),
    "HSB, implicit": Case(lambda **more: hsb.HSB(TREE, arms=3, implicit=True, seed=2, **more), implicit=True),
    "HSB, stop": Case(lambda **more: hsb.HSB(TREE, arms=3, learning_rate=0.2, stop=0.2, seed=2, **more)),
    "HSB, range": Case(lambda **more: hsb.HSB(TREE, arms=3, loss_range="auto", seed=2, **more), scale="growing"),
    "HSB, clip": Case(
        lambda **more: hsb.HSB(
            hsb.BinaryTree(depth=4, space=hsb.Box(0.0, 1.0, outside="clip")), arms=3, outside="clip", seed=2, **more
        ),
        world="beyond",
        scale="beyond",
    ),
    "HSB, 12 arms": Case(lambda **more: hsb.HSB(hsb.BinaryTree(depth=5), arms=12, seed=2, **more)),
    "HSB, 40 arms": Case(lambda **more: hsb.HSB(hsb.BinaryTree(depth=5), arms=40, seed=2, **more)),
    "features, dicts": Case(lambda **more: hsb.HSB(arms=ABC, seed=3, **more), "dicts", log="names"),
    "features, box": Case(lambda **more: hsb.HSB(arms=3, seed=3, **more), "box"),
    "features, arms": Case(lambda **more: hsb.HSB(arms=list(SHOP), arm_features=SHOP, seed=3, **more), "dicts", log="names"),
    "features, implicit": Case(
        lambda **more: hsb.HSB(arms=ABC, implicit=True, seed=3, **more), "dicts", implicit=True, log="names"
    ),
    "features, rate": Case(lambda **more: hsb.HSB(arms=ABC, learning_rate=0.1, seed=3, **more), "dicts", log="names"),
    "features, range": Case(
        lambda **more: hsb.HSB(arms=ABC, loss_range="auto", seed=3, **more), "dicts", "growing", log="names"
    ),
    "features, clip": Case(lambda **more: hsb.HSB(arms=ABC, outside="clip", seed=3, **more), "dicts", "beyond", log="names"),
    "features, 12 arms": Case(
        lambda **more: hsb.HSB(arms=[f"arm {k}" for k in range(12)], seed=3, **more), "dicts", log="names"
    ),
    "features, 40 arms": Case(
        lambda **more: hsb.HSB(arms=[f"arm {k}" for k in range(40)], seed=3, **more), "dicts", log="names"
    ),
}
SLOW = {"CsbFtpl", "CsbFtpl, regions"}  # not through 5,000 rounds


# -- worlds --------------------------------------------------------------------------------------------------------------


@cache
def contexts_of(world: str, rounds: int) -> tuple[Any, np.ndarray]:
    """Return contexts, and for each a number in [0, 1] that decides which arms are good. The arithmetic is the same on every machine."""
    rng = np.random.default_rng([11, rounds])
    x, y = rng.random(rounds), rng.random(rounds)
    if world == "box":
        return np.column_stack([x, y]), np.where(x < 0.5, x, y)
    if world == "beyond":
        return 1.2 * x - 0.1, x
    if world == "dicts":
        return [mixed(t, rounds, *rng.random(4)) for t in range(rounds)], np.where(np.arange(rounds) % 3 == 0, 1.0 - x, x)
    return x, x


def mixed(t: int, rounds: int, a: float, b: float, c: float, d: float) -> dict[str, Any]:
    """Return a context with text, numbers, dates, flags and tags: gaps at all times, more categories and features over time."""
    devices = ["ios", "web", "tv", *(f"model {k}" for k in range(20 * t // rounds))]
    row: dict[str, Any] = {
        "device": devices[int(a * len(devices))] if b < 0.9 else None,
        "age": None if c < 0.1 else float("nan") if c < 0.15 else round(18 + 60 * d),
        "group": t % 3,
        "day": date(2026, 1, 1) + timedelta(days=t % 97),
        "member": b < 0.5,
    }
    if t > rounds // 3:
        row["spent"] = (1000.0 * a * b) if d < 0.8 else None
        row["last visit"] = datetime(2026, 1, 1, 6) + timedelta(minutes=round(20000 * c))
    if t > rounds // 2:
        row["tags"] = [tag for tag, share in (("new", a), ("sale", b), (f"tag {t % 7}", c)) if share < 0.5]
    if d < 0.05:
        del row["group"]
    return row


@cache
def losses_of(world: str, scale: str, rounds: int, arms: int) -> np.ndarray:
    """Return a loss for each round and arm. The good arms change after three fifths of the rounds."""
    good = contexts_of(world, rounds)[1]
    rng = np.random.default_rng([12, rounds, arms])
    probability = np.abs(good[:, None] - (np.arange(arms) * 7 % arms) / max(arms - 1, 1))
    late = 3 * rounds // 5
    probability[late:] = probability[late:, ::-1]
    losses = (rng.random((rounds, arms)) < probability).astype(float)
    losses[::4] = np.round(probability[::4], 3)  # not only 0 and 1
    if scale == "beyond":
        return 1.25 * losses - 0.125
    if scale == "growing":
        return (4.0 * losses - 1.0) * (1 + np.arange(rounds) // 50)[:, None]
    return losses


@cache
def available_of(rounds: int, arms: int) -> np.ndarray:
    """Return which arms are available in each round: at least one, at times all."""
    rng = np.random.default_rng([13, rounds, arms])
    available = rng.random((rounds, arms)) < 0.6
    available[np.arange(rounds), rng.integers(arms, size=rounds)] = True
    available[::5] = True
    return available


# -- one scenario of one policy ------------------------------------------------------------------------------------------


class Golden:
    """A policy that plays, and a record of its actions as lines of text."""

    def __init__(self, case: Case, rounds: int = ROUNDS, **settings: Any) -> None:
        self.case, self.rounds = case, rounds
        self.policy = case.make(**settings)
        self.contexts = contexts_of(case.world, rounds)[0]
        self.losses = losses_of(case.world, case.scale, rounds, len(self.policy.arms) + 2)  # two arms may be added
        self.labels = list(self.policy.arms)  # at first
        self.available = available_of(rounds, len(self.labels))
        self.rng = np.random.default_rng(14)  # of the scenario, not of the policy
        self.decisions: list[str] = []
        self.more: list[str] = []  # numbers

    def context(self, t: int) -> Any:
        result = self.contexts[t]
        return float(result) if isinstance(result, float) else result

    def arms_at(self, t: int) -> list[Any]:
        return [arm for arm, there in zip(self.policy.arms, self.available[t], strict=False) if there]

    def loss(self, t: int, arm: Any) -> float:
        return float(self.losses[t, self.policy.arms.index(arm)])

    def note(self, arm: Any, propensity: float) -> None:
        self.decisions.append(f"{self.policy.arms.index(arm)} {float(propensity).hex()}")

    def decide(self, t: int, **how: Any) -> hsb.Decision:
        decision = self.policy.decide(self.context(t), **how)
        self.note(decision.arm, decision.propensity)
        return decision

    def learn(self, decision: hsb.Decision, t: int) -> None:
        loss = self.loss(t, decision.arm)
        self.policy.learn(decision, **({"reward": 1.0 - loss} if t % 3 == 0 else {"loss": loss}))

    def play(self, begin: int, end: int, *, masks: bool = False) -> None:
        for t in range(begin, end):
            self.learn(self.decide(t, available=self.arms_at(t) if masks else None), t)

    def simulate(self, begin: int, end: int, *, masks: bool = False) -> None:
        arms = len(self.policy.arms)
        run = hsb.simulate(
            self.policy,
            self.contexts[begin:end],
            self.losses[begin:end, :arms],
            available=self.available[begin:end] if masks else None,
        )
        for arm, propensity in zip(run.arms.tolist(), run.propensities.tolist(), strict=True):
            self.note(arm, propensity)
        self.more.append(f"average loss {run.average_loss.hex()}")

    def log(self, *, skewed: bool) -> Any:
        """Return every round of the world as a log: some arms not available, and one more than the policy has in the second half."""
        n, known = self.rounds, len(self.labels)
        arms = [*self.labels, "late"] if self.case.widens else self.labels
        available = np.column_stack([self.available, np.zeros((n, len(arms) - known), dtype=bool)])
        available[n // 2 :, known:] = True
        weights = available * (1.0 + np.arange(len(arms)) % 2 if skewed else np.ones(len(arms)))
        p = weights / weights.sum(axis=1, keepdims=True)
        u = self.rng.random((n, 1))
        arm = ((p.cumsum(axis=1) > u) & available).argmax(axis=1)
        probabilities, rewards = p[np.arange(n), arm], 1.0 - self.losses[np.arange(n), arm]
        if self.case.log == "names":
            rows = self.contexts if self.case.world == "dicts" else [{"x": float(x)} for x in self.contexts]
            names = sorted({name for row in rows for name in row} - {"tags"})
            table: dict[str, Any] = {name: [row.get(name) for row in rows] for name in names}
            table |= {f"offers {k}": available[:, k].tolist() for k in range(len(arms))}
            shown = np.empty(n, dtype=object)
            shown[:] = [arms[k] for k in arm]
            table |= {"shown": shown, "p": probabilities.tolist(), "reward": rewards.tolist()}
            columns = {label: f"offers {k}" for k, label in enumerate(arms)}
            return hsb.logs.open(
                table, context=names, arm="shown", propensity="p", reward="reward", available=columns, rows=70, on_error="raise"
            )
        if self.case.log == "rows":
            self.contexts = self.contexts.reshape(n, -1)
        return [
            hsb.logs.Batch.of(
                contexts=self.contexts[part],
                arm=arm[part],
                reward=rewards[part],
                propensity=probabilities[part],
                arms=arms[:width],
                available=available[part, :width],
            )
            for part, width in ((slice(100), known), (slice(100, n // 2), known), (slice(n // 2, n), len(arms)))
        ]

    def lines(self) -> dict[str, list[str]]:
        """Return the record by part. Parts not requested are left out."""
        policy, n = self.policy, self.rounds
        asked = [self.context(t) for t in range(0, n, n // 7)]
        probabilities = [hexes(policy.probabilities(context)) for context in asked]
        probabilities += [hexes(policy.probabilities(asked[-1], available=policy.active_arms[:2]))]
        probabilities += [repr(policy.choose(asked[0], u=u)) for u in (0.05, 0.95)]
        numbers = [f"rounds {policy.rounds}", f"clipped {policy.clipped}", f"clipped losses {policy.clipped_losses}"]
        numbers += [
            f"arms {policy.arms!r} {policy.active_arms!r}",
            f"range {hexes(policy.loss_range)} {hexes(policy.reward_range)}",
        ]
        numbers += [f"bound {float(policy.regret_bound(10_000)).hex()}", *self.more]
        if hasattr(policy, "certificate"):
            for delta in (None, 0.05) if self.case.implicit else (None,):
                result = policy.certificate(delta)
                values = [result.lost, result.excess, result.cost, result.rate, result.total]
                numbers.append(f"certificate {result.rounds} {hexes(values)} {result.masked} {result.shifted} {result.units}")
        arrays = []
        for name, array in sorted(policy.to_arrays().items()):
            held = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
            arrays.append(f"{name} {array.dtype.str} {array.shape} {held}")
        for t in range(0, n, n // 3):  # what it would draw next
            self.decide(t)
        return {"decisions": self.decisions, "arrays": arrays, "numbers": numbers, "probabilities": probabilities}


def hexes(values: Any) -> str:
    return " ".join(float(value).hex() for value in values)


# -- scenarios -----------------------------------------------------------------------------------------------------------


def online(case: Case) -> Golden:
    """Each decision is learned at once."""
    golden = Golden(case)
    golden.play(0, ROUNDS)
    return golden


def late(case: Case) -> Golden:
    """Feedback comes late and out of order, at times never; some decisions come from another policy."""
    golden, waiting = Golden(case), []
    for t in range(ROUNDS):
        waiting.append((golden.decide(t), t))
        if t % 10 == 9:
            arm = golden.policy.arms[t // 10 % len(golden.policy.arms)]
            golden.learn(hsb.Decision(context=golden.context(t), arm=arm, propensity=0.3), t)
        if golden.rng.random() < 0.8:
            golden.learn(*waiting.pop(int(golden.rng.integers(len(waiting)))))
    for each in reversed(waiting[5:]):
        golden.learn(*each)
    return golden


def masks(case: Case) -> Golden:
    """Not all arms are available; every fifth decision uses a given uniform sample."""
    golden = Golden(case)
    for t in range(ROUNDS):
        u = float(golden.rng.random()) if t % 5 == 2 else None
        golden.learn(golden.decide(t, available=golden.arms_at(t), u=u), t)
    return golden


def arms(case: Case) -> Golden:
    """Arms are removed, added and restored, while decisions about them wait."""
    golden = Golden(case)
    policy = golden.policy
    golden.play(0, 60)
    waiting = [(golden.decide(t), t) for t in range(60, 80)]
    policy.remove_arm(policy.arms[1])
    golden.play(80, 120)
    for each in waiting[:10]:
        golden.learn(*each)
    if case.widens:
        policy.add_arm("late")
        golden.play(120, 160)
    for each in waiting[10:]:
        golden.learn(*each)
    policy.add_arm(policy.arms[1])
    golden.play(160, 200)
    if case.widens:
        policy.add_arm("later", **({"features": {"kind": "shoes", "price": 50.0}} if "boot" in policy.arms else {}))
        policy.remove_arm("late")
    golden.play(200, 240)
    golden.simulate(240, ROUNDS)
    return golden


def simulated(case: Case) -> Golden:
    """A table, in two calls."""
    golden = Golden(case)
    golden.simulate(0, 200)
    golden.simulate(200, ROUNDS)
    return golden


def simulated_masks(case: Case) -> Golden:
    """A table in which not all arms are available; then rounds one by one."""
    golden = Golden(case)
    golden.simulate(0, 250, masks=True)
    golden.play(250, ROUNDS, masks=True)
    return golden


def floor(case: Case) -> Golden:
    """A fifth of the play is uniform."""
    golden = Golden(case, floor=0.2)
    golden.play(0, 50)
    golden.simulate(50, 150)
    golden.simulate(150, 250, masks=True)
    golden.play(250, ROUNDS, masks=True)
    return golden


def logged(case: Case) -> Golden:
    """It learns a log, which adds an arm, and continues to play."""
    golden = Golden(case)
    golden.more.append(f"learned {hsb.learn_from(golden.policy, golden.log(skewed=True), fit=False)}")
    golden.play(0, 20)
    return golden


def replayed(case: Case) -> Golden:
    """It replays a log drawn uniformly, then one that is thinned."""
    golden = Golden(case)
    for skewed in (False, True):
        result = hsb.replay(golden.policy, golden.log(skewed=skewed), seed=5)
        golden.more.append(
            f"replay {result.rounds} {result.matched} {result.total.hex()} {result.rejected} {hexes(result.interval)}"
        )
    golden.play(0, 20)
    return golden


def many(case: Case) -> Golden:
    """Whole tables of decisions; some of their feedback is missing at first."""
    golden = Golden(case)
    policy = golden.policy
    for begin in range(0, ROUNDS, 60):
        rows = range(begin, begin + 60)
        masks = [golden.arms_at(t) if t % 2 else None for t in rows] if begin % 120 else None
        result = policy.decide_many(golden.contexts[begin : begin + 60], available=masks)
        for decision in result:
            golden.note(decision.arm, decision.propensity)
        losses = [golden.loss(t, decision.arm) for t, decision in zip(rows, result, strict=True)]
        known = [loss if k % 4 else None for k, loss in enumerate(losses)]
        golden.more.append(f"learned {policy.learn_many(result, losses=known, missing='skip')}")
        rest = [(result[k], 1.0 - losses[k]) for k in range(60) if known[k] is None][::-1]
        policy.learn_many([decision for decision, _ in rest], rewards=[reward for _, reward in rest])
    return golden


def proposed(case: Case) -> Golden:
    """Decisions without a number: from the policy's own distribution, from another, of some arms, of many contexts."""
    golden = Golden(case)
    policy = golden.policy
    for begin in range(0, ROUNDS, 10):
        us = golden.rng.random(10)
        rows = range(begin, begin + 10)
        if begin % 20:
            result = policy.propose_many([golden.context(t) for t in rows], u=us)
        else:
            ways: list[dict[str, Any]] = [
                {"available": golden.arms_at(t)} if t % 3 == 0 else {"mixed": evened} if t % 3 == 1 else {} for t in rows
            ]
            result = [policy.propose(golden.context(t), u=float(u), **way) for t, u, way in zip(rows, us, ways, strict=True)]
        for k in golden.rng.permutation(10).tolist():
            golden.note(result[k].arm, result[k].propensity)
            if k != 4:
                policy.learn_proposed(result[k], loss=golden.loss(begin + k, result[k].arm))
    return golden


def evened(p: np.ndarray) -> np.ndarray:
    return 0.5 * p + 0.5 / len(p)


def files(case: Case) -> Golden:
    """Saved, loaded and copied in between, with decisions that wait."""
    golden = Golden(case)
    golden.play(0, 100, masks=True)
    waiting = [(golden.decide(t), t) for t in range(100, 110)]
    with tempfile.TemporaryDirectory() as folder:
        golden.policy.save(Path(folder) / "policy.hsb")
        golden.policy = hsb.load(Path(folder) / "policy.hsb", **case.again)
    for each in waiting[5:]:
        golden.learn(*each)
    golden.play(110, 200)
    golden.policy = golden.policy.copy()
    for each in waiting[:5]:
        golden.learn(*each)
    golden.play(200, ROUNDS)
    return golden


def long(case: Case) -> Golden:
    """A long table: encoders are refitted, rates fall, weights are flattened, trees grow; then some rounds one by one."""
    golden = Golden(case, MANY)
    golden.simulate(0, MANY - 20)
    golden.play(MANY - 20, MANY)
    return golden


SCENARIOS: dict[str, Callable[[Case], Golden]] = {
    "online": online,
    "late": late,
    "masks": masks,
    "arms": arms,
    "simulate": simulated,
    "simulate, masks": simulated_masks,
    "floor": floor,
    "log": logged,
    "replay": replayed,
    "many": many,
    "propose": proposed,
    "files": files,
    "long": long,
}


def names() -> Iterator[tuple[str, str]]:
    """Return every policy with every recorded scenario."""
    for policy in CASES:
        for scenario in SCENARIOS:
            if scenario != "long" or policy not in SLOW:
                yield policy, scenario


def lines(policy: str, scenario: str) -> dict[str, list[str]]:
    """Return a policy's actions in a scenario as lines of text, by part."""
    golden = SCENARIOS[scenario](CASES[policy])
    result = golden.lines()
    if scenario in ("simulate", "long") and hasattr(golden.policy, "explain"):
        few = {"rules": 3} if policy.startswith("features") else {}  # all rules of many features take a minute
        result["explanation"] = str(golden.policy.explain(**few)).splitlines()
    return result


def digests(policy: str, scenario: str) -> str:
    """Return digests of those lines, in the order of PARTS, separated by blanks."""
    return " ".join(hashlib.sha256("\n".join(part).encode()).hexdigest()[:16] for part in lines(policy, scenario).values())


def recorded() -> dict[str, dict[str, str]]:
    """Return the content of the file: digests by policy and scenario."""
    result: dict[str, dict[str, str]] = json.loads(FILE.read_text())
    return result


def main(arguments: list[str]) -> None:
    if arguments == ["--write"]:
        result: dict[str, dict[str, str]] = {}
        for policy, scenario in names():
            result.setdefault(policy, {})[scenario] = digests(policy, scenario)
        FILE.write_text(json.dumps(result, indent=1) + "\n")
    elif len(arguments) == 3 and arguments[0] == "--show":
        for part, text in lines(*arguments[1:]).items():
            print(f"-- {part}", *text, sep="\n")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
