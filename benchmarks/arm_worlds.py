"""Synthetic worlds of arms with features that come and go."""

from __future__ import annotations

from typing import Any

import numpy as np


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
            score = 2.1 * fit - 1.6
        elif self.kind == "own":
            score = 0.8 * fit - 1.6 + 1.5 * self.own[which] @ one / np.sqrt(11.0)
        else:
            score = np.where(fit > 0.65, 0.55, -1.1) + np.where(g[:, 0] * x[0] > 0.3, 0.45, -0.25)
        return 1.0 / (1.0 + np.exp(-score))
