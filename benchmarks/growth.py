"""Rounds per second against size, so that growth is seen: a table, a fitted exponent, and a picture where matplotlib is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from report import table
from timing import least, noise, policy, rate, simulate_ns, warm_simulate_ns

import hsb

HORIZON = 1_000_000


@dataclass(frozen=True)
class Sweep:
    """One size varied, all else fixed. `axis` is what the exponent is of."""

    name: str
    axis: str
    sizes: tuple[int, ...]
    ns: Callable[[int, int], float]
    rounds: Callable[[int], int]
    fits: tuple[tuple[int, int], ...]  # from which size to which the exponents are fitted
    known: str  # the growth the algorithm promises


@dataclass(frozen=True)
class Curve:
    """A sweep and the nanoseconds a round found at each size."""

    sweep: Sweep
    ns: list[float]

    def exponents(self) -> list[tuple[int, int, float]]:
        """From, to, and the slope of log time against log size between them."""
        found = []
        for low, high in self.sweep.fits:
            inside = [i for i, size in enumerate(self.sweep.sizes) if low <= size <= high]
            x, y = np.log([self.sweep.sizes[i] for i in inside]), np.log([self.ns[i] for i in inside])
            found.append((low, high, float(np.polyfit(x, y, 1)[0])))
        return found

    def title(self) -> str:
        """The growth in words."""
        axis = self.sweep.axis
        return f"{self.sweep.name}: " + "; ".join(
            f"time ~ {axis}^{e:.2f} from {low} to {high}" for low, high, e in self.exponents()
        )

    def text(self) -> str:
        """Size, time, rate, and the exponent from each size to the next."""
        sizes = self.sweep.sizes
        rows = []
        for i, (size, ns) in enumerate(zip(sizes, self.ns, strict=True)):
            local = np.log(ns / self.ns[i - 1]) / np.log(size / sizes[i - 1]) if i else None
            rows.append([f"{size}", f"{ns / 1000:.3f}", f"{1e9 / ns:,.0f}", "" if local is None else f"{local:+.2f}"])
        head = [self.sweep.axis, "us/round", "rounds/s", "exponent"]
        return f"{self.title()}\n{self.sweep.known}\n{table(head, rows)}"

    def data(self) -> dict[str, Any]:
        """For the JSON file."""
        return {
            "name": self.sweep.name,
            "axis": self.sweep.axis,
            "sizes": list(self.sweep.sizes),
            "ns_per_round": self.ns,
            "exponents": [{"from": low, "to": high, "exponent": e} for low, high, e in self.exponents()],
        }


def _fresh(structure: hsb.Structure, arms: int, features: int, rounds: int) -> float:
    world = noise(rounds, arms=arms, features=features)
    eta = rate(structure, arms, HORIZON)
    return simulate_ns(lambda: policy(structure, arms, eta), world)


def _arms(arms: int, rounds: int) -> float:
    structure = hsb.BinaryTree(depth=10)
    world = noise(rounds, arms=arms)
    player = policy(structure, arms, rate(structure, arms, HORIZON))
    hsb.simulate(player, world.contexts, world.losses)  # every node visited
    return warm_simulate_ns(player, world)


def sweeps(quick: bool) -> Iterator[Sweep]:
    """The four of them."""
    scale = 4 if quick else 1
    yield Sweep(
        "Binary tree, 3 arms",
        "depth",
        (1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 26, 32, 40, 52),
        lambda depth, rounds: _fresh(hsb.BinaryTree(depth=depth), 3, 1, rounds),
        lambda depth: 200_000 // scale,
        ((2, 10), (26, 52)),
        "From an empty tree. O(depth), or O(log rounds) once compressed",
    )
    yield Sweep(
        "Lexicographic, 3 arms",
        "leaves",
        (8, 16, 32, 64, 128),
        lambda leaves, rounds: _fresh(hsb.Lexicographic(leaves=leaves), 3, 1, rounds),
        lambda leaves: max(400, 3_000_000 // leaves**2) // scale,
        ((16, 128),),
        "O(leaves^3) at most",
    )
    yield Sweep(
        "Position splits, 6 arms",
        "leaves",
        tuple(2**bits for bits in range(1, 11)),
        lambda leaves, rounds: _fresh(_positions(leaves), 6, leaves.bit_length() - 1, rounds),
        lambda leaves: 2_000_000 // leaves // (8 if leaves < 64 else 1) // scale,
        ((16, 1024),),
        "O(leaves log leaves); leaves = 2^bits",
    )
    yield Sweep(
        "Binary tree of depth 10",
        "arms",
        tuple(2**k for k in range(1, 13)),
        _arms,
        lambda arms: min(100_000, max(4_000, 8_000_000 // arms)) // scale,
        ((32, 512), (512, 4096)),
        "All nodes visited before. O(log arms) a round, and O(arms) to read the table of losses",
    )


def _positions(leaves: int) -> hsb.PositionSplits:
    return hsb.PositionSplits(bits=[1] * (leaves.bit_length() - 1))


def measure(sweep: Sweep, repeats: int) -> Curve:
    """All sizes in turn, several times over, the least of each."""
    runs = [lambda size=size: sweep.ns(size, sweep.rounds(size)) for size in sweep.sizes]
    return Curve(sweep, least(*runs, repeats=repeats))


def draw(curves: list[Curve], path: Path) -> bool:
    """Rounds per second against size, one panel a sweep. False where matplotlib is not installed."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        return False
    figure, axes = plt.subplots(1, len(curves), figsize=(4 * len(curves), 3.4), constrained_layout=True)
    for axis, curve in zip(axes, curves, strict=True):
        axis.loglog(curve.sweep.sizes, [1e9 / ns for ns in curve.ns], marker="o", linewidth=1)
        axis.set_title(curve.title().replace(": ", "\n").replace("; ", "\n"), fontsize=8)
        axis.set_xlabel(curve.sweep.axis)
        axis.grid(True, which="both", alpha=0.3)
    axes[0].set_ylabel("rounds per second")
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return True
