"""LinUCB: a linear model of each arm's loss, and optimism about what it does not know."""

import math
from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..checks import is_number
from ..errors import BudgetError, InputError, quoted
from ..files.memory_limit import afford
from ..policy import Policy
from ..policy.loss_range import UNIT
from ..structures import Structure
from ..structures.spaces import Box, Cells, Space, numbers, space_from_dict
from ..types import Arms, Arrays, Floats, Ints, Masks, Outside, Range, Seed, Table

LARGEST = 1e100  # of a feature, so that no sum of squares leaves the range of a double
RIDGE = (1e-50, 1e50)
MOST_WORDS = 1 << 28  # of the state: 2 GB


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

    _kernels: ClassVar[Any]
    guarantee: ClassVar[str] = (
        "None against losses that an adversary picks, nor where an arm's expected loss is not linear in the features: then it may play "
        "a wrong arm for ever."
    )

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
        self.space, self._scaled = _space_of(features)
        if not is_number(alpha) or not 0.0 <= alpha <= LARGEST:
            raise InputError(f"alpha must be a number of at least 0, how much the width counts; given {quoted(alpha)}.")
        if not is_number(ridge) or not RIDGE[0] <= ridge <= RIDGE[1]:
            raise InputError(f"ridge must be a number in [{RIDGE[0]:g}, {RIDGE[1]:g}], e.g. 1; given {quoted(ridge)}.")
        if not isinstance(intercept, bool | np.bool_):
            raise InputError(f"intercept must be True or False; given {quoted(intercept)}.")
        super().__init__(arms=arms, loss_range=loss_range, reward_range=reward_range, outside=outside, floor=floor, seed=seed)
        self.features = self.space.features
        self.alpha, self.ridge, self.intercept = float(alpha), float(ridge), bool(intercept)
        self.state, self.updates = self._fresh(len(self.arms))
        self._refresh()

    def _locate(self, context: Any, *, count: bool) -> None:
        self._no_dict(context)
        row = numbers("Contexts", context)
        points, clipped = self.check(row.reshape(1, -1) if row.ndim <= 1 else row)
        if len(points) != 1:
            raise InputError(f"One context at a time here; given {len(points)}. hsb.simulate takes whole tables.")
        if count:
            self.clipped += clipped
        self._kernels.put(self._coordinates(points)[0], self._work)

    def _no_dict(self, context: Any) -> None:
        if isinstance(context, Mapping):
            d = self.features
            raise InputError(
                f"LinUCB takes rows of {d} number{'s' * (d > 1)}, not dicts; given a dict with {quoted(list(context))}. "
                "hsb.HSB(arms=...) takes dicts as they are."
            )

    def _choose(self, offered: Masks, u: float) -> tuple[int, float]:
        return self._kernels.choose(self.state, offered, self.alpha, self._work, self._p, u)  # type: ignore[no-any-return]

    def _fill(self, offered: Masks, p: Floats) -> None:
        self._kernels.scores(self.state, offered, self.alpha, self._work, p)
        low, ties = self._kernels.least(p)
        p[:] = np.where(p == low, 1.0 / ties, 0.0)

    def _update(self, offered: Masks, index: int, loss: float, propensity: float) -> None:
        self._commit(self._kernels.update, self.state, self.updates, index, loss, self.ridge, self._work)

    def check(self, contexts: ArrayLike) -> tuple[Table, int]:
        if isinstance(contexts, list | tuple) and contexts:
            self._no_dict(contexts[0])
        return self.space.check(contexts)

    def _play(self, points: Table, masks: Masks, losses: Floats, us: Floats, arms: Ints, chances: Floats, to_come: int) -> None:
        points = self._coordinates(points)
        fixed = (self.alpha, self.ridge, self._work, self._p, arms, chances)
        self._commit(self._kernels.play, self.state, self.updates, points, masks, losses, us, *fixed, rounds=len(us))

    def _coordinates(self, points: Floats) -> Floats:
        return np.ascontiguousarray(self.space.to_unit(points) if self._scaled else points)

    def coefficients(self, arm: Hashable) -> Floats:
        """The coefficients of an arm's regression, by which its loss is estimated: one for each feature, then the intercept, if there is one.

        >>> LinUCB(3, arms=2).coefficients(0)
        array([0., 0., 0., 0.])
        """
        return np.array(self.state[self.offer.number(arm), -1])

    def _fresh(self, arms: int) -> tuple[Floats, Ints]:
        """Regressions that have seen nothing, laid out as `engine/kernels/lin_ucb.py` says."""
        d = self.features + self.intercept
        if arms * (2 * d + 2) * d > MOST_WORDS:
            raise BudgetError(
                f"{arms} arms with {d} coefficients need {arms * (2 * d + 2) * d * 8 / 2**30:.1f} GB; the limit is "
                f"{MOST_WORDS * 8 / 2**30:.0f} GB. Use fewer features or fewer arms."
            )
        afford(arms * (2 * d + 2) * d)
        state = np.zeros((arms, 2 * d + 2, d))
        state[:, np.arange(d), np.arange(d)] = self.ridge
        state[:, d + np.arange(d), np.arange(d)] = 1.0 / self.ridge
        return state, np.zeros(arms, dtype=np.int64)

    def _widen(self) -> None:
        state, updates = self._fresh(len(self.arms) + 1)
        state[:-1], updates[:-1] = self.state, self.updates
        self.state, self.updates = state, updates

    def _refresh(self) -> None:
        from ..engine.kernels import lin_ucb

        super()._refresh()
        type(self)._kernels = lin_ucb
        self._p = np.empty(len(self.arms))
        d = self.state.shape[2]
        self._work = np.zeros((d + 2, d))

    def take_arrays(self, arrays: Arrays) -> None:
        super().take_arrays(arrays)
        d = self.state.shape[2]
        for block in (self.state[:, :d], self.state[:, d : 2 * d]):
            if not np.array_equal(block, block.transpose(0, 2, 1)):
                raise ValueError("its matrices are not symmetric")
        if (self.updates < 0).any() or (self.state[:, np.arange(d), np.arange(d)] < self.ridge).any():
            raise ValueError("its matrices are not those of its ridge")

    def settings(self) -> dict[str, Any]:
        return {
            "features": self.space.to_dict() if self._scaled else self.features,
            "alpha": self.alpha,
            "ridge": self.ridge,
            "intercept": self.intercept,
        }

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        given = settings.pop("features")
        return cls(space_from_dict(given) if isinstance(given, dict) else given, **settings, **common)

    def _shown(self) -> dict[str, Any]:
        return {"features": self.space if self._scaled else self.features, "alpha": self.alpha, "ridge": self.ridge}


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
