"""Section VI-A, Figure 5: HSB-BT, S-EXP3 and EXP3 where the arms stay as they are."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

from ... import problems, theory
from ...evaluate.simulated.comparison import Comparison
from ..base import Analysis, Claim, Figure, Options, ReportTable
from ..synthetic import Race, losses_table
from . import Paper
from .curves import draw
from .rates import SAID, best_of_depth, other_rates, rates_figure, rates_table, readings

DEPTHS = (2, 5, 10)
TREES = {depth: {"kind": "BinaryTree", "depth": depth} for depth in DEPTHS}
PAPER: dict[str, dict[str, Any]] = {
    **{f"HSB-BT, depth {depth}": {"policy": "HSB", "structure": TREES[depth], "horizon": True} for depth in DEPTHS},
    **{f"S-EXP3, depth {depth}": {"policy": "SExp3", "structure": TREES[depth], "horizon": True} for depth in DEPTHS},
    "EXP3": {"policy": "Exp3", "horizon": True},
}
DEFAULT = "HSB default, depth 10"
OURS: dict[str, dict[str, Any]] = {DEFAULT: {"policy": "HSB", "structure": TREES[10]}}


class StationaryExperiment(Paper, Race):
    """Three arms whose expected losses depend on one feature and do not change."""

    name = "stationary"
    title = "Section VI-A: stationary environment"
    SETTINGS: ClassVar[dict[str, Any]] = {
        "problem": {"name": "stationary"},
        "data_sets": 10,
        "presentations": 10,
        "rounds": 100_000,
        "policies": {"the paper's policies": PAPER, "the default": OURS},
        "quick": {"data_sets": 4, "presentations": 2, "rounds": 10_000},
    }

    def settings(self, options: Options) -> dict[str, Any]:
        settings = super().settings(options)
        return settings | {"policies": settings["policies"] | {"HSB-BT at other rates": other_rates(settings["rounds"])}}

    def analyse(self, options: Options, results: dict[str, Any]) -> Analysis:
        everybody = self.comparison(options, results)
        compared = replace(everybody, losses={name: everybody.losses[name] for name in (*PAPER, *OURS)})
        rounds = self.settings(options)["rounds"]
        caption = (
            "Average loss so far against the round (Figure 5): mean over the data sets, each presented several times; bands are 95% intervals "
            "over data sets. Rates are tuned to the horizon, HSB-BT's by Corollary 1, since the paper gives none; the default is told neither "
            "horizon nor rate."
        )
        text = "HSB that knows neither horizon nor rate (the default, depth 10) beats HSB-BT of depth 10 at Corollary 1's rate"
        default = self.beats(compared, DEFAULT, "HSB-BT, depth 10", text, origin="own")
        gain = compared.difference("S-EXP3, depth 2", "S-EXP3, depth 5")
        return Analysis(
            claims=[*(*self.rivals(compared), *self.depths(compared, rounds), default), *readings(self, everybody, rounds)],
            figures=[
                Figure("figure-5-stationary", caption, lambda pyplot: draw(pyplot, compared), synthetic=True),
                rates_figure(everybody, rounds),
            ],
            tables=[
                losses_table(compared, "Average loss after all rounds (synthetic data)"),
                depths_table(rounds),
                rates_table(everybody, rounds),
            ],
            notes=[
                "The rates of HSB-BT, S-EXP3 and EXP3 are the theory's for the rounds played (Corollary 1, for as many regions as arms).",
                SAID,
                "The paper says that depth can hurt S-EXP3, not that it always does: from depth 2 to depth 5 the average loss falls by "
                f"{gain.mean:.4f} (95% interval {gain.low:.4f} to {gain.high:.4f}).",
            ],
        )

    def rivals(self, compared: Comparison) -> Iterator[Claim]:
        """HSB-BT against each rival at each depth."""
        for depth in DEPTHS:
            ours, rival = f"HSB-BT, depth {depth}", f"S-EXP3, depth {depth}"
            yield self.beats(compared, ours, rival, f"HSB-BT of depth {depth} beats S-EXP3 of the same depth")
            yield self.beats(compared, ours, "EXP3", f"HSB-BT of depth {depth} beats EXP3")

    def depths(self, compared: Comparison, rounds: int) -> Iterator[Claim]:
        """What depth does to HSB-BT and to S-EXP3."""
        for shallow, deep in ((2, 5), (5, 10)):
            better, worse = f"HSB-BT, depth {deep}", f"HSB-BT, depth {shallow}"
            why = (
                f"What depth can gain: the best mapping of depth {deep} is expected to lose {best_of_depth(shallow) - best_of_depth(deep):.5f} "
                f"less than that of depth {shallow}. What it may cost: the bound on the regret grows by "
                f"{bound(deep, rounds) - bound(shallow, rounds):.4f} a round." + (f" {SAID}" if deep == 10 else "")
            )
            text = f"Depth {deep} improves on depth {shallow} for HSB-BT"
            yield self.beats(compared, better, worse, text, tie=why, fails=why)
        for shallow in (2, 5):
            text = f"Too much depth hurts S-EXP3: depth 10 is worse than depth {shallow}"
            yield self.beats(compared, f"S-EXP3, depth {shallow}", "S-EXP3, depth 10", text)


def bound(depth: int, rounds: int) -> float:
    """What is proved of HSB-BT's regret, a round."""
    return theory.regret_bound(problems.Stationary().structure(depth), arms=3, horizon=rounds) / rounds


def depths_table(rounds: int) -> ReportTable:
    """What depth can gain, and what it may cost."""
    rows = [[str(depth), str(2**depth), f"{best_of_depth(depth):.4f}", f"{bound(depth, rounds):.4f}"] for depth in DEPTHS]
    head = ["depth", "cells", "best mapping's expected loss", "bound on HSB-BT's regret a round"]
    return ReportTable("What depth can gain and may cost (synthetic data)", head, rows)
