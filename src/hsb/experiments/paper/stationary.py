"""Section VI-A, Figure 5: HSB-BT, S-EXP3 and EXP3 in a stationary environment."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar

from ... import problems, theory
from ...evaluate.simulated.comparison import Comparison
from ..base import Analysis, Claim, Figure, Options, ReportTable
from ..synthetic import Race, losses_table
from . import Paper, convergence
from .curves import draw
from .rates import PAIR, UNSPECIFIED_RATE, best_of_depth, has_pair, other_rates, rates_figure, rates_table, readings

DEPTHS = (2, 5, 10)  # the paper's
SIZES = {"depths": "depths", "runs": "data_sets", "rounds": "rounds"}
Policies = dict[str, dict[str, Any]]


def tree(depth: int) -> dict[str, Any]:
    """Return the settings of a binary tree."""
    return {"kind": "BinaryTree", "depth": depth}


def paper_policies(depths: Sequence[int]) -> Policies:
    """Return the paper's policies, with trees of these depths."""
    return {
        **{f"HSB-BT, depth {depth}": {"policy": "HSB", "structure": tree(depth), "horizon": True} for depth in depths},
        **{f"S-EXP3, depth {depth}": {"policy": "SExp3", "structure": tree(depth), "horizon": True} for depth in depths},
        "EXP3": {"policy": "Exp3", "horizon": True},
    }


def default_name(depths: Sequence[int]) -> str:
    """Return the name of HSB's default, which has the deepest tree.

    >>> default_name([2, 5, 10])
    'HSB default, depth 10'
    """
    return f"HSB default, depth {max(depths)}"


def default_policy(depths: Sequence[int]) -> Policies:
    """Return HSB's default over the deepest tree."""
    return {default_name(depths): {"policy": "HSB", "structure": tree(max(depths))}}


class StationaryExperiment(Paper, Race):
    """Three arms whose expected losses depend on one feature and do not change."""

    name = "stationary"
    title = "Section VI-A: stationary environment"
    SETTINGS: ClassVar[dict[str, Any]] = {
        "problem": {"name": "stationary"},
        "data_sets": 10,
        "presentations": 10,
        "rounds": 100_000,
        "depths": list(DEPTHS),
        "quick": {"data_sets": 4, "presentations": 2, "rounds": 10_000},
    }
    SIZES = SIZES

    def settings(self, options: Options) -> dict[str, Any]:
        settings = super().settings(options)
        depths = settings["depths"]
        policies = {"the paper's policies": paper_policies(depths), "the default": default_policy(depths)}
        if has_pair(depths):
            policies["HSB-BT at other rates"] = other_rates(settings["rounds"])
        return settings | {"policies": policies}

    def marks(self, settings: dict[str, Any]) -> list[int]:
        return convergence.windows(settings["rounds"])

    def analyse(self, options: Options, results: dict[str, Any]) -> Analysis:
        everybody = self.comparison(options, results)
        settings = self.settings(options)
        depths, rounds = settings["depths"], settings["rounds"]
        shown = (*paper_policies(depths), *default_policy(depths))
        compared = replace(everybody, losses={name: everybody.losses[name] for name in shown})
        caption = (
            "Average loss so far against the round (Figure 5): mean over the data sets, each presented several times; bands are 95% intervals "
            "over data sets. Rates are tuned to the horizon; HSB-BT's is that of Corollary 1, since the paper gives none. The default knows "
            "neither horizon nor rate."
        )
        deep = f"HSB-BT, depth {max(depths)}"
        unknown = f"HSB that knows neither horizon nor rate (the default, depth {max(depths)})"
        text = f"{unknown} beats HSB-BT of depth {max(depths)} at Corollary 1's rate"
        default = self.beats(compared, default_name(depths), deep, text, origin="own")
        at_rates = has_pair(depths)
        return Analysis(
            claims=[
                *(*self.rivals(compared, depths), *self.deeper(compared, depths, rounds)),
                *(*convergence.claims(compared, depths), default),
                *(readings(self, everybody, rounds) if at_rates else ()),
                *convergence.readings(compared, depths),
            ],
            figures=[
                Figure("figure-5-stationary", caption, lambda pyplot: draw(pyplot, compared), synthetic=True),
                *([rates_figure(everybody, rounds)] if at_rates else []),
            ],
            tables=[
                losses_table(compared, "Average loss after all rounds (synthetic data)"),
                depths_table(depths, rounds),
                *([rates_table(everybody, rounds)] if at_rates else []),
            ],
            notes=[
                "The rates of HSB-BT, S-EXP3 and EXP3 are the theory's for the rounds played (Corollary 1, for as many regions as arms).",
                UNSPECIFIED_RATE,
                "The abstract calls the algorithms 'highly superior' and gives no number. The claims here test which policy loses less; the "
                "differences show by how much.",
                *(gained(compared, shallow, deep) for shallow, deep in list(pairwise(depths))[:1]),
            ],
        )

    def rivals(self, compared: Comparison, depths: Sequence[int]) -> Iterator[Claim]:
        """Compare HSB-BT with each rival at each depth."""
        for depth in depths:
            ours, rival = f"HSB-BT, depth {depth}", f"S-EXP3, depth {depth}"
            yield self.beats(compared, ours, rival, f"HSB-BT of depth {depth} beats S-EXP3 of the same depth")
            yield self.beats(compared, ours, "EXP3", f"HSB-BT of depth {depth} beats EXP3")

    def deeper(self, compared: Comparison, depths: Sequence[int], rounds: int) -> Iterator[Claim]:
        """Compare depths of HSB-BT and of S-EXP3."""
        for shallow, deep in pairwise(depths):
            better, worse = f"HSB-BT, depth {deep}", f"HSB-BT, depth {shallow}"
            why = (
                f"Possible gain: the expected loss of the best mapping of depth {deep} is {best_of_depth(shallow) - best_of_depth(deep):.5f} "
                f"below that of depth {shallow}. Possible cost: the regret bound grows by "
                f"{bound(deep, rounds) - bound(shallow, rounds):.4f} per round."
                + (f" {UNSPECIFIED_RATE}" if (shallow, deep) == PAIR else "")
            )
            text = f"Depth {deep} improves on depth {shallow} for HSB-BT"
            yield self.beats(compared, better, worse, text, tie=why, fails=why, because=_because(shallow, deep, rounds))
        deepest = max(depths)
        for shallow in depths[:-1]:
            text = f"Too much depth hurts S-EXP3: depth {deepest} is worse than depth {shallow}"
            yield self.beats(compared, f"S-EXP3, depth {shallow}", f"S-EXP3, depth {deepest}", text)


def gained(compared: Comparison, shallow: int, deep: int) -> str:
    """Return a note about the gain of S-EXP3 by depth."""
    gain = compared.difference(f"S-EXP3, depth {shallow}", f"S-EXP3, depth {deep}")
    return (
        f"According to the paper depth can hurt S-EXP3, but need not: from depth {shallow} to depth {deep} the average loss falls by "
        f"{gain.mean:.4f} (95% interval {gain.low:.4f} to {gain.high:.4f})."
    )


def _because(shallow: int, deep: int, rounds: int) -> str:
    gain, cost = best_of_depth(shallow) - best_of_depth(deep), bound(deep, rounds) - bound(shallow, rounds)
    open_choice = "; the paper gives no rate for HSB-BT, and the sign depends on it" if (shallow, deep) == PAIR else ""
    return f"{2**deep} cells can gain {gain:.5f} per round, while the proved bound grows by {cost:.4f}{open_choice}"


def bound(depth: int, rounds: int) -> float:
    """Return the bound on HSB-BT's regret, per round."""
    return theory.regret_bound(problems.Stationary().structure(depth), arms=3, horizon=rounds) / rounds


def depths_table(depths: Sequence[int], rounds: int) -> ReportTable:
    """Return a table of the possible gains and costs of depth."""
    rows = [[str(depth), str(2**depth), f"{best_of_depth(depth):.4f}", f"{bound(depth, rounds):.4f}"] for depth in depths]
    head = ["depth", "cells", "best mapping's expected loss", "bound on HSB-BT's regret per round"]
    return ReportTable("Possible gain and cost of depth (synthetic data)", head, rows)
