"""Policies whose arms come with each request, requests for them, and synthetic worlds of arms with features."""

from __future__ import annotations

from typing import Any

import numpy as np

import hsb
from hsb.features import Request


def open_policy(**settings: Any) -> hsb.HSB:
    """A policy with three groups beside an arm that is always there, and few arms with a model of their own."""
    arms = hsb.Open(["home"], group="topic", groups=["news", "sport"], known=8)
    return hsb.HSB(**{"arms": arms, "seed": 1} | settings)


def requests_of(seed: int, rounds: int, fewest: int = 2, most: int = 7) -> tuple[list[Request], list[Any]]:
    """Requests with mixed features of contexts and arms, some missing; and each arm's reward, 0 or 1."""
    rng = np.random.default_rng(seed)
    requests, rewards = [], []
    for _ in range(rounds):
        context: dict[str, Any] = {"age": float(rng.integers(18, 70)), "device": str(rng.choice(["ios", "web"]))}
        if rng.random() < 0.1:
            context["age"] = None
        arms: dict[str, Any] = {"home": None} if rng.random() < 0.7 else {}
        for k in rng.choice(20, size=int(rng.integers(fewest, most)), replace=False):
            topic = ["news", "sport", "music"][k % 3]
            arms[f"a{k}"] = {"price": float(k), "topic": topic} if k % 5 else {"topic": topic}
        young = (context["age"] or 0.0) < 40.0
        chances = [0.5 if arm == "home" else 0.7 if (arms[arm]["topic"] == "news") == young else 0.2 for arm in arms]
        requests.append(Request(context, arms))
        rewards.append((rng.random(len(arms)) < chances).astype(float))
    return requests, rewards


def play(policy: hsb.Policy, requests: list[Request], rewards: list[Any]) -> list[tuple[Any, float]]:
    """Play the requests one by one; return arms and propensities."""
    played = []
    for request, reward in zip(requests, rewards, strict=True):
        decision = policy.decide(request.context, arms=request.arms)
        policy.learn(decision, reward=float(reward[list(request.arms).index(decision.arm)]))
        played.append((decision.arm, decision.propensity))
    return played


class BilinearWorld:
    """Arms with 14 numbers that come and go, contexts with 10: an arm's chance of a reward depends on products of both.

    `kind`: "match"; "own", in which much belongs to each arm alone; or "steps".
    """

    def __init__(self, kind: str, seed: int, *, arms: int = 1000, alive: int = 200, offered: int = 30) -> None:
        self.kind, self.offered = kind, offered
        self.rng = rng = np.random.default_rng(seed)
        self.of_arms, self.weights = rng.normal(size=(arms, 14)), rng.normal(size=(11, 15))
        self.own = rng.normal(size=(arms, 11))
        order = rng.permutation(arms)
        self.alive, self.away = order[:alive].tolist(), order[alive:].tolist()
        self.features = [{f"g{j}": float(value) for j, value in enumerate(row)} for row in self.of_arms]

    def round(self) -> tuple[dict[str, float], dict[str, dict[str, float]], Any, Any]:
        """Return a context, the arms on offer, their chances, and their rewards."""
        rng = self.rng
        if rng.random() < 0.05 and self.away:
            i, j = int(rng.integers(len(self.alive))), int(rng.integers(len(self.away)))
            self.alive[i], self.away[j] = self.away[j], self.alive[i]
        which = rng.choice(self.alive, size=self.offered, replace=False)
        x = rng.normal(size=10)
        chances = self.chances(x, which)
        context = {f"x{i}": float(value) for i, value in enumerate(x)}
        return context, {f"a{k}": self.features[k] for k in which}, chances, (rng.random(len(which)) < chances).astype(float)

    def chances(self, x: Any, which: Any) -> Any:
        one, g = np.append(1.0, x), self.of_arms[which]
        fit = np.append(np.ones((len(g), 1)), g, axis=1) @ (one @ self.weights) / np.sqrt(165.0)
        if self.kind == "match":
            score = 2.0 * fit - 1.5
        elif self.kind == "own":
            score = fit - 1.5 + 1.6 * self.own[which] @ one / np.sqrt(11.0)
        else:
            score = np.where(fit > 0.5, 1.2, -1.0) + np.where(g[:, 0] * x[0] > 0.3, 0.8, -0.4)
        return 1.0 / (1.0 + np.exp(-score))
