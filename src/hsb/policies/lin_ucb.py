"""`LinUCB`: a linear model of each arm's loss, and optimism under uncertainty."""

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

LARGEST = 1e100  # of a feature, so that no sum of squares overflows a double
RIDGE = (1e-50, 1e50)


class LinUCB(Policy):
    """A ridge regression for each arm; plays the arm with the least estimate - alpha * width (Li, Chu, Langford, Schapire 2010, disjoint).

    With z the d features (and 1 for the intercept), A = ridge I + the sum of z z' over the rounds of an arm and b that of loss z, the
    estimate is z' A^-1 b and the width sqrt(z' A^-1 z). Equal arms are played with equal probability. With M arms a round costs O(M d^2),
    and memory is about 2 M d^2 numbers. Learning does not use the propensity.

    - `features`: the number of features of a context; or an `hsb.Box`, an `hsb.Cells` or a structure, whose space scales each feature to
      [0, 1].
    - `alpha`: the weight of the width, at least 0; 0 plays the best estimate.
    - `ridge`: the strength of the ridge penalty, above 0.
    - `intercept`: whether each regression has a constant.
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
        "None if an adversary picks the losses, or if an arm's expected loss is not linear in the features: then it may play "
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
            raise InputError(f"alpha must be a number of at least 0, the weight of the width; given {quoted(alpha)}.")
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
        """The space of contexts."""
        return self.learner.space

    @property
    def features(self) -> int:
        """The number of features of a context."""
        return self.learner.space.features

    @property
    def alpha(self) -> float:
        """The weight of the width."""
        return self.learner.alpha

    @property
    def ridge(self) -> float:
        """The strength of the ridge penalty."""
        return self.learner.ridge

    @property
    def intercept(self) -> bool:
        """Whether each regression has a constant."""
        return self.learner.intercept

    @property
    def state(self) -> Floats:
        """The regressions of all arms, in the layout of `engine/kernels/lin_ucb.py`."""
        return self.learner.state

    @property
    def updates(self) -> Ints:
        """The number of updates of each arm."""
        return self.learner.updates

    def coefficients(self, arm: Hashable) -> Floats:
        """Return the coefficients of an arm's loss: one for each feature, then the intercept, if there is one.

        >>> LinUCB(3, arms=2).coefficients(0)
        array([0., 0., 0., 0.])
        """
        with self.lock:
            settle(self)
            return np.array(self.learner.state[self.arm_set.number(arm), -1])

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        features = settings.pop("features")
        return cls(space_from_dict(features) if isinstance(features, dict) else features, **settings, **common)


def _space_of(features: int | Space | Structure) -> tuple[Space, bool]:
    """Return the space of contexts, and whether it scales them."""
    if isinstance(features, Structure):
        return features.space, True
    if isinstance(features, Box | Cells):
        return features, True
    if isinstance(features, bool) or not isinstance(features, int | np.integer) or features < 1:
        raise InputError(
            "features must be their number, at least 1, e.g. hsb.LinUCB(3, arms=...), or an hsb.Box, an hsb.Cells or a "
            f"structure; given {quoted(features)}."
        )
    if int(features) > math.isqrt(MOST_WORDS):
        raise BudgetError(f"A regression on {quoted(features)} features needs more than 2 GB per arm. Use fewer features.")
    return Box([-LARGEST] * int(features), [LARGEST] * int(features)), False
