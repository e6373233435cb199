"""Section VI-B, Figure 6: the arms' models change after a quarter of the rounds."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from ... import problems
from ...evaluate.simulated.comparison import Comparison
from ..base import Analysis, Claim, Figure, Options
from ..synthetic import Race, losses_table
from . import Paper
from .curves import draw
from .stationary import DEPTHS, SIZES, default_name, default_policy, paper_policies, tree


def drift_name(depths: Sequence[int]) -> str:
    """Return the name of HSB-BT with drift, which has the deepest tree.

    >>> drift_name([2, 5, 10])
    'HSB drift, depth 10'
    """
    return f"HSB drift, depth {max(depths)}"


class NonstationaryExperiment(Paper, Race):
    """The arms of VI-A change places, all at once."""

    name = "nonstationary"
    title = "Section VI-B: sudden change after 25% of the rounds"
    SETTINGS: ClassVar[dict[str, Any]] = {
        "problem": {"name": "sudden-change", "at": 0.25},
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
        drift = {"policy": "HSB", "structure": tree(max(depths)), "horizon": True, "drift": 1e-5}
        own = {drift_name(depths): drift} | default_policy(depths)
        return settings | {"policies": {"the paper's policies": paper_policies(depths), "drift and the default": own}}

    def marks(self, settings: dict[str, Any]) -> list[int]:
        problem = problems.by_name(**settings["problem"])
        assert isinstance(problem, problems.SuddenChange)
        return [problem.change(settings["rounds"])]

    def analyse(self, options: Options, results: dict[str, Any]) -> Analysis:
        compared = self.comparison(options, results)
        settings = self.settings(options)
        depths, [change] = settings["depths"], self.marks(settings)
        caption = (
            f"Average loss so far against the round (Figure 6); the models change after round {change:,} (vertical line). Mean over the "
            "data sets, each presented several times; bands are 95% intervals over data sets."
        )
        return Analysis(
            claims=[*self.rivals(compared, depths, change), *self.ours(compared, depths, change)],
            figures=[Figure("figure-6-nonstationary", caption, lambda pyplot: draw(pyplot, compared, change), synthetic=True)],
            tables=[
                losses_table(compared, "Average loss before the change (synthetic data)", until=change),
                losses_table(compared, "Average loss after the change (synthetic data)", since=change),
                losses_table(compared, "Average loss over all rounds (synthetic data)"),
            ],
            notes=[
                "The paper gives no rate for HSB-BT in this section either: here it is Corollary 1's, for as many regions as arms.",
                "The best policy that knows the model loses the same before and after the change: the arms change places.",
                "Drift and the default are not the paper's. Drift is HSB-BT at Corollary 1's rate with a fixed share: "
                "each round an arm passes on a little of its weight.",
            ],
        )

    def rivals(self, compared: Comparison, depths: Sequence[int], change: int) -> Iterator[Claim]:
        """Compare HSB-BT with each rival at each depth, before and after the change."""
        for depth in depths:
            ours = f"HSB-BT, depth {depth}"
            for rival, words in ((f"S-EXP3, depth {depth}", "S-EXP3 of the same depth"), ("EXP3", "EXP3")):
                before = f"Before the change, HSB-BT of depth {depth} beats {words}"
                after = f"HSB-BT of depth {depth} adapts better than {words}: it loses less in the rounds after the change"
                yield self.beats(compared, ours, rival, before, until=change)
                yield self.beats(compared, ours, rival, after, since=change)

    def ours(self, compared: Comparison, depths: Sequence[int], change: int) -> Iterator[Claim]:
        """Compare the default and drift with the paper's HSB-BT."""
        deepest, default, drift = max(depths), default_name(depths), drift_name(depths)
        paper = f"HSB-BT, depth {deepest}"
        better = f"than HSB-BT without drift, depth {deepest}: it loses less in the rounds after the change"
        yield self.beats(compared, drift, paper, f"HSB-BT with drift adapts better {better}", since=change, origin="own")
        yield self.beats(compared, default, paper, f"HSB's default adapts better {better}", since=change, origin="own")
        yield self.beats(
            compared, default, paper, f"HSB's default beats HSB-BT of depth {deepest} over all rounds", origin="own"
        )
        yield self.beats(compared, default, drift, "HSB's default beats HSB-BT with drift over all rounds", origin="own")
