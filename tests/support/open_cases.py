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
