"""CSB-FTPL: follow the perturbed leader, with an oracle for the best mapping."""

import math
from typing import Any, ClassVar

import numpy as np

from ..checks import is_number, whole
from ..errors import InputError, quoted
from ..policy.loss_range import UNIT
from ..structures.leaves import Divided
from ..theory.checks import check_horizon
from ..theory.leaders import csb_ftpl_anytime_bound, csb_ftpl_bound, noise_cost
from ..types import Arms, Floats, Ints, Masks, Outside, Range, Seed, Table
from .leader import Leader

DRAWS = 1000  # for probabilities that are counted
MOST_NOISE = 1e100  # beyond any use; its sums stay finite
MOST_REDRAWS = 1 << 52  # so many that no decision takes them


class CsbFtpl(Leader):
    """Contextual semi-bandit follow-the-perturbed-leader (Syrgkanis, Krishnamurthy and Schapire 2016), one arm a round.

    Each decision adds fresh Laplace noise to the total loss of every (leaf, arm), asks an oracle for the best mapping of the perturbed
    totals and plays its arm. It is then drawn anew, at most L times, until the same arm comes again: the number of draws J estimates 1/p
    (geometric resampling; at most M draws on average, whatever L). `Decision.propensity` is that estimate, 1/J, and not the probability
    itself; learning adds loss / propensity = J * loss to the total of the leaf and arm.

    The leaves are the paper's small separator, of size N: two different mappings differ on one of them, so contexts need not be known in
    advance. Being all that a mapping can tell apart, they are also the known contexts of its transductive setting, whose bound is the
    better one: order T^(1/2), where a separator alone has T^(2/3) N^(3/4) M sqrt(ln|Pi|). `theory/leaders.py` proves it, with constants.

    - `structure`: as in `hsb.SExp3`. It has N leaves.
    - `regions`: which mappings there are: those with at most `regions` runs of equal arms along the numbered leaves, by dynamic programming,
      O(N M regions) a draw. None: all, each leaf with its best arm.
    - `horizon`: the number of rounds T to come, for noise of mean size 1/epsilon = sqrt(2 M T / B) and L = ceil(sqrt(M T)); M is the number of
      arms, and B is `hsb.theory.noise_cost`, at most N (1 + ln M).
    - `noise`: the mean size itself, in place of a `horizon`; then L = ceil(noise sqrt(B/2)). With neither, the size is sqrt(4 M t / B) and
      L = ceil(sqrt(M t)) in round t.
    - `resamples`: L itself. None: as above.
    - `arms`, `loss_range`, `reward_range`, `outside`, `floor`, `seed`: as in `hsb.HSB`.

    `probabilities` are good to about 1e-14 with all mappings. With `regions` they are a count over 1000 draws of noise, always the same ones:
    within 0.05 of the truth nearly always, and 0 for rare arms.

    >>> import hsb, numpy as np
    >>> CsbFtpl(hsb.BinaryTree(depth=2), arms=4, horizon=100).probabilities(0.3, available=[0, 2])
    array([0.5, 0. , 0.5, 0. ])
    >>> policy = CsbFtpl(hsb.BinaryTree(depth=3), arms=2, horizon=2000, seed=0)
    >>> x = np.random.default_rng(1).random(2000)
    >>> run = hsb.simulate(policy, x, np.column_stack([x > 0.5, x <= 0.5]))
    >>> run.average_loss < 0.2, policy.mapping
    (True, array([0, 0, 0, 0, 1, 1, 1, 1]))
    """

    guarantee: ClassVar[str] = (
        "Against every mapping of its class, whatever the contexts and losses: 2 sqrt(2 B M T) + sqrt(M T)/e, with a horizon; "
        "4 sqrt(B M T) + 2 sqrt(M T)/e without; B <= N (1 + ln M)."
    )

    def __init__(
        self,
        structure: Divided,
        *,
        arms: Arms,
        horizon: float | None = None,
        noise: float | None = None,
        regions: int | None = None,
        resamples: int | None = None,
        loss_range: Range = UNIT,
        reward_range: Range | None = None,
        outside: Outside = "error",
        floor: float = 0.0,
        seed: Seed = None,
    ) -> None:
        super().__init__(
            structure,
            arms=arms,
            regions=regions,
            loss_range=loss_range,
            reward_range=reward_range,
            outside=outside,
            floor=floor,
            seed=seed,
        )
        if horizon is not None:
            if noise is not None:
                raise InputError(
                    "Give horizon= or noise=, not both: the horizon is only used to set the noise and the resamples."
                )
            check_horizon(horizon)
        if noise is not None and not (is_number(noise) and 1.0 / MOST_NOISE <= noise <= MOST_NOISE):
            raise InputError(
                f"noise must be a positive number, the mean size of the noise in units of loss; given {quoted(noise)}."
            )
        self.horizon = None if horizon is None else float(horizon)
        self.noise = None if noise is None else float(noise)
        self.resamples = None if resamples is None else whole("resamples", resamples, 1, 10**100)
        self._refresh()

    def regret_bound(self, horizon: float | None = None) -> float:
        """B noise + 2 M T / noise + M T / (e L) over T = `horizon` rounds, in expectation against each mapping of the class.

        Where every arm is offered in every round and feedback comes at once. Infinite with a `floor`. Proved, with these constants, in
        `theory/leaders.py`; the paper's theorem for the transductive setting has its own.

        >>> import hsb
        >>> round(CsbFtpl(hsb.BinaryTree(depth=5), arms=3, horizon=100_000).regret_bound())
        9497
        """
        if self.floor > 0.0:
            return math.inf  # nothing is proved with a floor
        found = self.horizon if horizon is None else horizon
        if found is None:
            raise InputError("Over how many rounds? Give regret_bound(horizon): this policy was made without one.")
        arms = len(self.arms)
        if self.noise is None:
            return csb_ftpl_anytime_bound(self._cost, arms=arms, horizon=found, resamples=self.resamples)
        return csb_ftpl_bound(self._cost, arms=arms, horizon=found, noise=self.noise, resamples=self._limit(1))

    def _choose(self, offered: Masks, u: float) -> tuple[int, float]:
        noise, most = float(self._size(self.rounds + 1)), int(self._limit(self.rounds + 1))
        arm, count = self._kernels.perturbed(self.totals, self._leaf, offered, noise, most, self._work, u)
        return arm, 1.0 / count

    def _fill(self, offered: Masks, p: Floats) -> None:
        noise, leaf = float(self._size(self.rounds + 1)), self._leaf
        if self._runs():
            self._kernels.count_draws(self.totals, leaf, offered, noise, DRAWS, self._work, p)
        else:
            from ..engine.kernels import laplace

            laplace.least(self.totals[leaf], offered, noise, p)

    def _update(self, offered: Masks, index: int, loss: float, propensity: float) -> None:
        total = self.totals[self._leaf, index] + min(loss / propensity, self._kernels.MOST)
        self._commit(self.totals.__setitem__, (self._leaf, index), total)

    def _play(self, points: Table, masks: Masks, losses: Floats, us: Floats, arms: Ints, chances: Floats, to_come: int) -> None:
        n = len(us)
        t = np.arange(self.rounds + 1, self.rounds + 1 + n)
        noises, mosts = np.full(n, self._size(t)), np.full(n, self._limit(t), dtype=np.int64)
        leaves = self.locator.keys(points)
        given = (self.totals, leaves, masks, losses, us, noises, mosts, self._work, arms, chances)
        self._commit(self._kernels.play_perturbed, *given, rounds=n)

    def _size(self, t: Any) -> Any:
        """The noise of round t, or of an array of rounds. With one arm there is nothing to choose, and any noise will do."""
        if self.noise is not None:
            return self.noise
        return np.sqrt(4.0 * len(self.arms) * t / self._cost) if self._cost else 1.0

    def _limit(self, t: Any) -> Any:
        """The most redraws of round t, or of an array of rounds."""
        if self.resamples is not None:
            return min(self.resamples, MOST_REDRAWS)
        if self.horizon is not None:
            return math.ceil(min(math.sqrt(len(self.arms) * self.horizon), MOST_REDRAWS))
        if self.noise is not None:
            return max(1, math.ceil(min(self.noise * math.sqrt(self._cost / 2.0), MOST_REDRAWS)))
        return np.ceil(np.sqrt(len(self.arms) * t))

    def _refresh(self) -> None:
        super()._refresh()
        arms = len(self.arms)
        self._cost = noise_cost(leaves=self.structure.leaves, arms=arms, regions=self.regions)
        if self.horizon is not None:
            self.noise = min(math.sqrt(2.0 * arms * self.horizon / self._cost), MOST_NOISE) if self._cost else 1.0

    def settings(self) -> dict[str, Any]:
        return {
            "structure": self.structure.plain(),
            "horizon": self.horizon,
            "noise": self.noise if self.horizon is None else None,
            "regions": self.regions,
            "resamples": self.resamples,
        }

    def _shown(self) -> dict[str, Any]:
        return {"structure": self.structure, "noise": self.noise, "regions": self.regions}
