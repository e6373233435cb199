"""What is proved of a policy with a tree over each feature: it is never much worse than the best rule on any one of them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .. import reproducible_math, theory
from ..engine.kernels import header as h
from ..features import Encoder
from ..learners.encoded import Encoded
from ..structures import BinaryTree, KaryTree
from ..structures.spaces import Cells
from ..theory.anytime import anytime_schedule
from ..theory.schedule import Schedule
from .leaning import MOST, Leaning

MIXTURE = 0.000001  # prior weight of all that the guarantee is about, beside the panel
PANEL, FIXED = 0, 1  # options of the head, and members 1 and 2; then one for each slot


class OneFeature(Leaning, listed=False):
    """A head over a panel, a single arm and a tree for each slot of an encoder: its bounds and its certificate."""

    guarantee: ClassVar[str] = (
        "Never much worse than the best rule on any one feature, or the best single arm, whatever the world does; regret_bound(T) has the "
        "number. It is made of (ln(1/beta) + ln of 10^6 times the features and 1) over the last rate, 0.76 M times the sum of the rates, and "
        "what is played uniformly where losses are near 1."
    )
    locator: Encoded  # type: ignore[assignment]
    _first_slots: int

    @property
    def encoder(self) -> Encoder:
        """What it knows of contexts: names, categories, scales."""
        return self.locator.encoder

    def _scheduled(self) -> Schedule:
        return anytime_schedule(arms=len(self.arms), rate=self.learning_rate, mixture=MIXTURE)

    def regret_bound(self, horizon: float | None = None, *, regions: int | None = None, delay: float = 0.0) -> float:
        """A bound on the expected regret over `horizon` rounds against every rule on one feature, and so against every single arm.

        Rules on numbers have `regions` parts (None: as many as arms), those on categories an arm for each. For the features and categories
        known now; before there are any, for one number. `delay`: how many rounds late all feedback comes.

        >>> import hsb
        >>> round(hsb.HSB(arms=2).regret_bound(100_000))
        10018
        """
        regions = len(self.arms) if regions is None else regions
        costs = [self._named(slot) + self._rule_cost(slot, regions) for slot in range(self.encoder.slots)]
        cost = max(costs, default=reproducible_math.ln(2.0) + self._tree_cost(regions))
        lean = 0.0 if self.implicit else MOST
        return self._bound(cost, horizon, implicit=self.implicit, delay=delay, lean=lean)

    def _named(self, slot: int) -> float:
        """What naming the tree over a slot costs beside MIXTURE, -1 being the single arm; and, if it came late, the arm before."""
        F, I = self.state.members[0]
        named = -reproducible_math.ln(float(F[I[h.PRIOR] + FIXED + 1 + slot]) / MIXTURE)
        return named + (float(self._arm_costs().max()) if slot >= self._first_slots else 0.0)

    def _rule_cost(self, slot: int, regions: int) -> float:
        """At most ln(1/beta) of rules on a slot: an arm for each category and for those missing or new, or `regions` parts of a number."""
        if self.encoder.shapes[slot][0] == "binary":
            return self._tree_cost(regions)
        known = len(self.encoder.knowledge.slot_columns[slot].codes) + 2
        return reproducible_math.ln(2.0) + known * float(self._arm_costs().max())

    def _tree_cost(self, regions: int) -> float:
        dearer = float(self._arm_costs().max()) - reproducible_math.ln(len(self.arms))
        return theory.prior_bound(BinaryTree(depth=5), arms=len(self.arms), regions=regions, dearer=dearer)

    def _prior_bound(self) -> float:
        return reproducible_math.ln(2.0) + theory.prior_bound(BinaryTree(depth=5), arms=len(self.arms), regions=len(self.arms))

    def _best_cost(self) -> float:
        """Of the rule on one feature that is most probable now, or of a single arm."""
        from ..explain import explain
        from ..explain.price import price

        best = int(np.argmax(self.state.head[FIXED:]))
        named = self._named(best - 1)
        if best == 0:
            return named + float(self._arm_costs().max())
        kind, size = self.encoder.shapes[best - 1]
        tree: KaryTree = (
            BinaryTree(depth=size, space=Cells(1 << size)) if kind == "binary" else KaryTree(k=size, depth=1, space=Cells(size))
        )
        return named + price(
            explain(tree, [self.state.members[2 + best]], self.arms, None), stop=None, arm_costs=self._arm_costs()
        )
