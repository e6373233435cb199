"""The stationary problem of Section VI-A: HSB on a binary tree, S-EXP3 and EXP3, averaged loss printed and drawn.

Three arms, one feature, 10^5 rounds, synthetic. `make demo` runs this.
"""

from __future__ import annotations

import math
import time
from pathlib import Path

import matplotlib
import numpy as np

import hsb

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROUNDS, ARMS, SEEDS = 100_000, 3, 10
OUT = Path("out")


def expected_losses(s: np.ndarray) -> np.ndarray:
    """Equation (model) of Section VI-A: the probability that each arm loses."""
    return np.column_stack([0.5 + 0.5 * np.sin(2 * np.pi * s), np.sin(np.pi * s), s])


TREE = hsb.BinaryTree(depth=10)
POLICIES = {
    "HSB without knobs": lambda seed: hsb.HSB(TREE, arms=ARMS, seed=seed),
    "HSB, the paper's rate": lambda seed: hsb.HSB(TREE, arms=ARMS, horizon=ROUNDS, seed=seed),
    "S-EXP3, 1024 cells": lambda seed: hsb.SExp3(TREE, arms=ARMS, horizon=ROUNDS, seed=seed),
    "EXP3 (no context)": lambda seed: hsb.Exp3(arms=ARMS, horizon=ROUNDS, seed=seed),
}


def main() -> None:
    """Play, print, draw."""
    print(f"Section VI-A (synthetic): {ARMS} arms, {ROUNDS:,} rounds, {SEEDS} seeds. Compiling on the first run takes a while.")
    curves: dict[str, list[np.ndarray]] = {name: [] for name in POLICIES}
    best = []
    start = time.perf_counter()
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        contexts = rng.random(ROUNDS)
        chances = expected_losses(contexts)
        losses = (rng.random((ROUNDS, ARMS)) < chances).astype(np.float64)
        best.append(chances.min(axis=1).mean())
        for name, make in POLICIES.items():
            run = hsb.simulate(make(seed), contexts, losses)
            curves[name].append(np.cumsum(run.losses) / np.arange(1, ROUNDS + 1))
        print(f"  seed {seed + 1} of {SEEDS}", end="\r", flush=True)
    seconds = time.perf_counter() - start
    print(f"\n{'':34s}average loss   regret   bound on the regret")
    for name, runs in curves.items():
        final = np.array([curve[-1] for curve in runs])
        spread = 1.96 * final.std(ddof=1) / math.sqrt(SEEDS)
        regret = ROUNDS * (final.mean() - np.mean(best))
        bound = ""
        if name.startswith("HSB"):
            bound = f"{POLICIES[name](0).regret_bound(ROUNDS):12,.0f}"
        print(f"  {name:30s}  {final.mean():.4f} ± {spread:.4f}  {regret:7,.0f} {bound}")
    print(f"  {'the best policy, knowing all':30s}  {np.mean(best):.4f}")
    print(f"{len(POLICIES) * SEEDS * ROUNDS / seconds:,.0f} rounds a second, compilation included.")
    print(draw(curves, float(np.mean(best))))


def draw(curves: dict[str, list[np.ndarray]], best: float) -> str:
    """One line per policy with a 95% band, written as PNG."""
    at = np.unique(np.geomspace(10, ROUNDS, 300).astype(int)) - 1
    fig, ax = plt.subplots(figsize=(8, 4.8), constrained_layout=True)
    for (name, runs), style in zip(curves.items(), ("-", "--", "-.", ":"), strict=True):
        table = np.array(runs)[:, at]
        middle, spread = table.mean(axis=0), 1.96 * table.std(axis=0, ddof=1) / math.sqrt(SEEDS)
        (line,) = ax.plot(at + 1, middle, style, label=name)
        ax.fill_between(at + 1, middle - spread, middle + spread, color=line.get_color(), alpha=0.2, linewidth=0)
    ax.axhline(best, color="black", linewidth=1, label=f"the best policy, knowing all: {best:.4f}")
    ax.set(xscale="log", xlabel="round", ylabel="averaged accumulated loss", ylim=(0.15, 0.65))
    ax.set_title("Section VI-A, synthetic: mean of 10 seeds and 95% band")
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(0.01, 0.36))
    OUT.mkdir(exist_ok=True)
    path = OUT / "demo.png"
    fig.savefig(path, dpi=120)
    return f"The picture is {path}."


if __name__ == "__main__":
    main()
