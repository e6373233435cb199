"""Helpers of `tests/files/test_own_files.py`, shared with other tests."""

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import hsb
from support.attack.forged import facts

Rng = np.random.Generator
Value = Callable[[Rng, int], Any]  # of a feature, in round t
START = datetime.datetime(2026, 1, 1)
VALUES: dict[str, Value] = {
    "zipf": lambda rng, t: f"c{rng.zipf(1.3) % 80}",
    "many": lambda rng, t: f"user-{rng.integers(10**6)}",
    "few": lambda rng, t: "abc"[rng.integers(3)],
    "number": lambda rng, t: float(rng.normal()),
    "count": lambda rng, t: int(rng.poisson(3)),
    "far from 0": lambda rng, t: 1e9 + float(rng.normal()),
    "all but constant": lambda rng, t: 1e15 + float(rng.integers(2)),
    "heavy tails": lambda rng, t: float(rng.pareto(0.4)),
    "growing": lambda rng, t: float(rng.normal() * (t + 1.0) ** 3),
    "exploding": lambda rng, t: float(rng.normal() * 10.0 ** min(t, 300)),
    "shrinking": lambda rng, t: float(rng.normal() * 10.0 ** -min(t, 300)),
    "constant": lambda rng, t: 7.0,
    "flag": lambda rng, t: bool(rng.random() < 0.3),
    "tags": lambda rng, t: [f"t{k}" for k in set((rng.zipf(1.5, size=rng.integers(4)) % 90).tolist())],
    "time": lambda rng, t: START + datetime.timedelta(minutes=int(rng.integers(10**6))),
}


class World:
    """A policy and its surroundings, drawn from a seed. With a `structure` its contexts are drawn from that structure's space."""

    def __init__(self, seed: int, structure: hsb.Structure | None = None, **settings: Any) -> None:
        rng = np.random.default_rng([seed, 0x0F11E5])
        self.seed, self.structure = seed, structure
        arms = int(rng.choice([1, 2, 2, 3, 5, 20, 33]))
        self.settings: dict[str, Any] = {"arms": [f"arm {m}" for m in range(arms)], "seed": seed}
        self.settings["floor"] = float(rng.choice([0.0, 0.0, 0.02, 0.5]))
        self.settings["implicit"] = bool(rng.random() < 0.3)
        self.range = [(0.0, 1.0), (0.0, 1.0), (-5.0, 20.0), (0.0, 1e-9), (-1e12, 1e12)][rng.integers(5)]
        self.settings["reward_range"] = self.range
        if rng.random() < 0.3:
            self.settings["learning_rate"] = float(rng.choice([0.01, 0.5, 20.0]))
        self.names: list[str] = []
        if structure is None:
            width = int(rng.choice([3, 8, 24, 64, 256]))
            self.settings["features"] = hsb.Features().limit(width=width)
            self.names = [str(name) for name in rng.choice(list(VALUES), size=rng.integers(1, 8), replace=False)]
            if rng.random() < 0.3:
                self.settings["arm_features"] = {f"arm {m}": {"price": float(m), "kind": "xyz"[m % 3]} for m in range(arms)}
        self.settings |= settings
        self.missing = float(rng.choice([0.0, 0.0, 0.1]))  # share of values
        self.latest = int(rng.choice([1, 1, 5, 40]))  # decisions that wait for their reward at most
        self.masked, self.logged, self.changed = rng.choice([0.0, 0.0, 0.3], size=3)  # shares of rounds
        self.mean = float(rng.choice([0.0, 0.001, 0.3, 0.999, 1.0]))  # of the rewards, in units of their range

    def policy(self) -> hsb.Policy:
        return hsb.HSB(self.structure, **self.settings)

    def context(self, rng: Rng, t: int) -> Any:
        if self.structure is None:
            known = self.names[: 1 + t // 10]  # features appear one after the other
            return {name: None if rng.random() < self.missing else VALUES[name](rng, t) for name in known}
        space = self.structure.space
        if isinstance(space, hsb.Cells):
            return int(rng.integers(space.n))
        point = rng.uniform(space.low, space.high)
        return point.tolist() if len(point) > 1 else float(point[0])

    def reward(self, rng: Rng, number: int) -> float:
        low, high = self.range
        share = float(rng.random() < self.mean) if number % 3 else min(max(float(rng.normal(self.mean, 0.2)), 0.0), 1.0)
        return low + share * (high - low)


class Run:
    """A policy in a world, round after round: its decisions, and late rewards."""

    def __init__(self, world: World) -> None:
        self.world, self.policy = world, world.policy()
        self.rng, self.waiting, self.t = np.random.default_rng([world.seed, 1]), [], 0

    def round(self) -> tuple[Any, ...]:
        """Play one round with its side events; return the decision."""
        world, policy, rng, t = self.world, self.policy, self.rng, self.t
        self.t += 1
        context, active = world.context(rng, t), policy.active_arms
        if rng.random() < 0.05 * world.changed and len(policy.arms) < 40:
            features = {"price": float(t), "kind": "x"} if "arm_features" in world.settings else None
            policy.add_arm(f"arm {len(policy.arms)}", **({} if features is None else {"features": features}))
        elif rng.random() < 0.05 * world.changed and len(active) > 2:
            policy.remove_arm(active[rng.integers(len(active))])
        if rng.random() < world.logged:
            arm = policy.active_arms[rng.integers(len(policy.active_arms))]
            logged = hsb.Decision(context=context, arm=arm, propensity=float(rng.choice([0.01, 0.3, 1.0])))
            policy.learn(logged, reward=world.reward(rng, policy.arms.index(arm)))
            return ("logged",)
        masked = rng.random() < world.masked
        available = [arm for arm in policy.active_arms if rng.random() < 0.6] if masked else []
        decision = policy.decide(context, available=available or None)
        self.waiting.append(decision)
        while len(self.waiting) > rng.integers(world.latest):
            late = self.waiting.pop(rng.integers(len(self.waiting)))
            policy.learn(late, reward=world.reward(rng, policy.arms.index(late.arm)))
        return decision.arm, decision.propensity


def go_through(world: World, rounds: int, every: int, folder: Path) -> int:
    """Play a world with and without files, and compare; return the number of files read."""
    path, files = folder / "policy.hsb", 0
    saved, plain = Run(world), Run(world)
    for t in range(1, rounds + 1):
        assert saved.round() == plain.round()
        if t % every == 0 or t == rounds:
            saved.policy.save(path)
            saved.policy = hsb.load(path)
            files += 1
            assert saved.policy.digest() == plain.policy.digest()
    assert facts(saved.policy) == facts(plain.policy)
    return files
