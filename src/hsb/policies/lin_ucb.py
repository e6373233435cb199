"""LinUCB: a linear model of each arm's loss, and optimism about what it does not know."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, ClassVar, Self

import numpy as np

from ..checks import is_number
from ..errors import BudgetError, InputError, quoted
from ..learners.lin_ucb import MOST_WORDS, Regressions
from ..policy import Policy
from ..policy.arms import ArmSet
from ..policy.loss_range import UNIT
from ..policy.transaction import settle
from ..structures import Structure
from ..structures.spaces import Box, Cells, Space, space_from_dict
from ..types import Arms, Floats, Ints, Outside, Range, Seed

LARGEST = 1e100  # of a feature, so that no sum of squares leaves the range of a double
RIDGE = (1e-50, 1e50)


class LinUCB(Policy):
    """A ridge regression for each arm; plays the arm with the least estimate - alpha * width (Li, Chu, Langford, Schapire 2010, disjoint).

    With z the d features (and 1 for the intercept), A = ridge I + the sum of z z' over the rounds of an arm and b that of loss z, the
    estimate is z' A^-1 b and the width sqrt(z' A^-1 z). Equal arms are played with equal probability. With M arms a round costs O(M d^2),
    and memory is about 2 M d^2 numbers. Learning does not use the propensity.

    - `features`: how many numbers a context has; or an `hsb.Box` or `hsb.Cells`, or a structure, whose space is taken: each feature is then
      scaled to [0, 1].
    - `alpha`: how much the width counts, at least 0; 0 plays the best estimate.
    - `ridge`: how strongly coefficients are held at 0, above 0.
    - `intercept`: has each regression a constant?
    - `arms`, `loss_range`, `reward_range`, `outside`, `floor`, `seed`: as in `hsb.HSB`.

    >>> import hsb
    >>> policy = LinUCB(2, arms=["a", "b"], alpha=0.5, seed=0)
    >>> for x in (0.1, 0.4, 0.9) * 20:
    ...     decision = policy.decide([x, 1 - x])
    ...     policy.learn(decision, loss=x if decision.arm == "a" else 1 - x)
    >>> policy.decide([0.05, 0.95]).arm, policy.decide([0.95, 0.05]).arm
    ('a', 'b')
    """

    guarantee: ClassVar[str] = (
        "None against losses that an adversary picks, nor where an arm's expected loss is not linear in the features: then it may play "
        "a wrong arm for ever."
    )

    learner: Regressions

    def __init__(
        self,
        features: int | Space | Structure,
        *,
        arms: Arms,
        alpha: float = 1.0,
        ridge: float = 1.0,
        intercept: bool = True,
        loss_range: Range = UNIT,
        reward_range: Range | None = None,
        outside: Outside = "error",
        floor: float = 0.0,
        seed: Seed = None,
    ) -> None:
        space, scaled = _space_of(features)
        if not is_number(alpha) or not 0.0 <= alpha <= LARGEST:
            raise InputError(f"alpha must be a number of at least 0, how much the width counts; given {quoted(alpha)}.")
        if not is_number(ridge) or not RIDGE[0] <= ridge <= RIDGE[1]:
            raise InputError(f"ridge must be a number in [{RIDGE[0]:g}, {RIDGE[1]:g}], e.g. 1; given {quoted(ridge)}.")
        if not isinstance(intercept, bool | np.bool_):
            raise InputError(f"intercept must be True or False; given {quoted(intercept)}.")
        arm_set = ArmSet(arms)
        learner = Regressions(
            space, len(arm_set), scaled=scaled, alpha=float(alpha), ridge=float(ridge), intercept=bool(intercept)
        )
        common: Any = {"loss_range": loss_range, "reward_range": reward_range, "outside": outside, "floor": floor, "seed": seed}
        super().__init__(arms=arm_set, learner=learner, **common)

    @property
    def space(self) -> Space:
        """Where contexts lie."""
        return self.learner.space

    @property
    def features(self) -> int:
        """How many numbers a context has."""
        return self.learner.space.features

    @property
    def alpha(self) -> float:
        """How much the width counts."""
        return self.learner.alpha

    @property
    def ridge(self) -> float:
        """How strongly coefficients are held at 0."""
        return self.learner.ridge

    @property
    def intercept(self) -> bool:
        """Has each regression a constant?"""
        return self.learner.intercept

    @property
    def state(self) -> Floats:
        """The regressions of all arms, laid out as `engine/kernels/lin_ucb.py` says."""
        return self.learner.state

    @property
    def updates(self) -> Ints:
        """How many rounds of each arm were learned."""
        return self.learner.updates

    def coefficients(self, arm: Hashable) -> Floats:
        """The coefficients of an arm's regression, by which its loss is estimated: one for each feature, then the intercept, if there is one.

        >>> LinUCB(3, arms=2).coefficients(0)
        array([0., 0., 0., 0.])
        """
        with self.lock:
            settle(self)
            return np.array(self.learner.state[self.arm_set.number(arm), -1])

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        given = settings.pop("features")
        return cls(space_from_dict(given) if isinstance(given, dict) else given, **settings, **common)


def _space_of(features: int | Space | Structure) -> tuple[Space, bool]:
    """The space that contexts are checked against, and whether they are scaled by it."""
    if isinstance(features, Structure):
        return features.space, True
    if isinstance(features, Box | Cells):
        return features, True
    if isinstance(features, bool) or not isinstance(features, int | np.integer) or features < 1:
        raise InputError(
            "LinUCB needs the number of features, at least 1, e.g. hsb.LinUCB(3, arms=...), or an hsb.Box, an hsb.Cells or a "
            f"structure whose space to use; given {quoted(features)}."
        )
    if int(features) > math.isqrt(MOST_WORDS):
        raise BudgetError(
            f"{quoted(features)} features: a regression on so many needs more than 2 GB an arm. Use fewer features."
        )
    return Box([-LARGEST] * int(features), [LARGEST] * int(features)), False
