"""Section VI-A: the effect of depth on HSB-BT at several rates. The paper gives the rates of EXP3 and S-EXP3, but not HSB-BT's."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ... import problems, theory
from ...evaluate.simulated.comparison import Comparison
from ...plotting.style import INK, SOFT, looks
from ...types import Floats, Ints
from ..base import Claim, Figure, ReportTable
from ..synthetic import Race

BT = looks(["HSB-BT"])["HSB-BT"]
POINTS = 1 << 14  # of the quadrature
PAIR = (5, 10)  # the depths compared
USED = "Corollary 1 (used in Figure 5)"
UNSPECIFIED_RATE = (
    "The paper gives the rates of EXP3 and S-EXP3 in Sections VI-A and VI-B, but not how HSB-BT's is set. Here it is Corollary 1's; "
    "whether depth 10 improves on depth 5 depends on it (see the table of rates)."
)


def has_pair(depths: Sequence[int]) -> bool:
    """Return True if `depths` has both depths whose rates are compared.

    >>> has_pair([2, 5, 10]), has_pair([7])
    (True, False)
    """
    return set(PAIR) <= set(depths)


def expected(depth: int) -> Floats:
    """Return the expected loss of each arm in each of 2^depth cells, by quadrature."""
    points = (np.arange(POINTS)[:, None] + 0.5) / POINTS
    losses = problems.Stationary().expected(points, np.zeros(POINTS, dtype=np.int64), 1)
    return np.asarray(losses.reshape(2**depth, -1, losses.shape[1]).mean(axis=1))


def best_of_depth(depth: int) -> float:
    """Return the expected loss of the best mapping of 2^depth cells.

    >>> best_of_depth(2) > best_of_depth(5) > best_of_depth(10)
    True
    """
    return float(expected(depth).min(axis=1).mean())


def best_mapping(depth: int) -> Ints:
    """Return the arm of each cell of that mapping.

    >>> best_mapping(2).tolist()
    [2, 2, 0, 0]
    """
    return np.asarray(expected(depth).argmin(axis=1), dtype=np.int64)


def rates(rounds: int) -> dict[str, dict[int, float]]:
    """Return the rate at each depth, for each way to set it.

    >>> {name: round(rate[10], 4) for name, rate in rates(100_000).items()}["Corollary 1, halved"]
    0.0112
    """
    shared: dict[str, Any] = {"arms": 3, "horizon": rounds}
    trees = {depth: problems.Stationary().structure(depth) for depth in PAIR}
    corollary = {depth: theory.learning_rate(tree, **shared) for depth, tree in trees.items()}
    costs = {depth: theory.prior_cost(tree, best_mapping(depth), arms=3) for depth, tree in trees.items()}
    times = {"Corollary 1, a quarter of it": 0.25, "Corollary 1, halved": 0.5, USED: 1.0, "Corollary 1, doubled": 2.0}
    return {
        **{name: {depth: factor * rate for depth, rate in corollary.items()} for name, factor in times.items()},
        "for the best mapping's exact prior cost": {depth: theory.mixture_rate(costs[depth], **shared) for depth in PAIR},
        "depth 5's, for both": dict.fromkeys(PAIR, corollary[5]),
        "depth 10's, for both": dict.fromkeys(PAIR, corollary[10]),
        "S-EXP3's of the same depth": {depth: theory.s_exp3_rate(leaves=2**depth, **shared) for depth in PAIR},
    }


def player(depth: int, way: str) -> str:
    """Return the name of HSB-BT at that depth and rate.

    >>> player(5, USED), player(5, "depth 5's, for both"), player(10, "Corollary 1, halved")
    ('HSB-BT, depth 5', 'HSB-BT, depth 5', 'HSB-BT, depth 10, rate: Corollary 1, halved')
    """
    plain = f"HSB-BT, depth {depth}"
    return plain if way in (USED, f"depth {depth}'s, for both") else f"{plain}, rate: {way}"


def other_rates(rounds: int) -> dict[str, dict[str, Any]]:
    """Return the settings of HSB-BT at every rate that Figure 5 does not show."""
    policies: dict[str, dict[str, Any]] = {}
    for way, by_depth in rates(rounds).items():
        for depth, rate in by_depth.items():
            tree = {"kind": "BinaryTree", "depth": depth}
            policies[player(depth, way)] = {"policy": "HSB", "structure": tree, "learning_rate": rate}
    return {name: settings for name, settings in policies.items() if "rate:" in name}


def readings(race: Race, compared: Comparison, rounds: int) -> Iterator[Claim]:
    """Yield the claims that depth 10 improves on depth 5, at each of the other rates."""
    for way in rates(rounds):
        if way != USED:
            text = f"Depth 10 improves on depth 5 for HSB-BT, rate: {way}"
            yield race.beats(compared, player(10, way), player(5, way), text, origin="reading")


def rates_table(compared: Comparison, rounds: int) -> ReportTable:
    """Return a table of the gain of depth at each rate."""
    rows = []
    for way, rate in rates(rounds).items():
        gain = compared.difference(player(5, way), player(10, way))
        losses = [f"{compared.interval(player(depth, way)).mean:.4f}" for depth in PAIR]
        rows.append(
            [way, *(f"{rate[depth]:.4f}" for depth in PAIR), *losses, f"{gain.mean:+.5f} ({gain.low:+.5f} to {gain.high:+.5f})"]
        )
    head = ["how the rate is set", "rate, depth 5", "rate, depth 10", "loss, depth 5", "loss, depth 10", "gained by depth 10"]
    return ReportTable("Depth 5 and depth 10 of HSB-BT at several rates (synthetic data)", head, rows)


def rates_figure(compared: Comparison, rounds: int) -> Figure:
    """Return the same as a figure: right of 0 the deeper tree is better."""
    gains = {way: compared.difference(player(5, way), player(10, way)) for way in rates(rounds)}
    caption = (
        "Average loss of HSB-BT of depth 5 less that of depth 10, at several rates; 95% intervals of the paired difference over "
        "data sets. The paper does not give HSB-BT's rate, and the sign depends on it."
    )

    def draw(pyplot: Any) -> Any:
        figure, ax = pyplot.subplots(figsize=(9.0, 3.8), layout="constrained")
        for position, (way, gain) in enumerate(gains.items()):
            half = (gain.high - gain.low) / 2 if np.isfinite(gain.high) else 0.0
            used = way == USED
            style = {"color": BT.colour if used else SOFT, "marker": "D" if used else "o"}
            ax.errorbar(gain.mean, -position, xerr=half, capsize=3, linestyle="none", **style)
        ax.axvline(0.0, color=INK, linewidth=1.0)
        ax.set_yticks([-position for position in range(len(gains))], list(gains))
        ax.set(xlabel="average loss at depth 5 less that at depth 10 (right of 0: depth 10 is better)")
        ax.set_title("VI-A: does depth 10 improve on depth 5? (synthetic)")
        ax.grid(axis="x", linewidth=0.4, alpha=0.6)
        return figure

    return Figure("stationary-rates", caption, draw, synthetic=True)
