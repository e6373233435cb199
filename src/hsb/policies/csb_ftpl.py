"""`CsbFtpl`: follow the perturbed leader, with an oracle for the best mapping."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

from ..checks import is_number, whole
from ..errors import InputError, quoted
from ..learners.leaders import MOST_NOISE, Perturbation, PerturbedLeader
from ..learners.leaf_totals import LeafTotals
from ..policy import Policy
from ..policy.arms import ArmSet
from ..policy.loss_range import UNIT
from ..policy.transaction import settle
from ..structures.leaves import Divided, Leaves
from ..theory.checks import check_horizon
from ..theory.leaders import csb_ftpl_anytime_bound, csb_ftpl_bound
from ..types import Arms, Floats, Ints, Outside, Range, Seed


class CsbFtpl(Policy):
    """Contextual semi-bandit follow-the-perturbed-leader (Syrgkanis, Krishnamurthy and Schapire 2016), one arm a round.

    Each decision adds fresh Laplace noise to the total loss of every (leaf, arm), lets an oracle find the best mapping of the perturbed
    totals, and plays its arm. Then it draws again, at most L times, until the same arm comes: the number of draws J estimates 1/p (geometric
    resampling; at most M draws on average, whatever L). `Decision.propensity` is that estimate, 1/J, and not the probability; learning adds
    loss / propensity = J * loss to the total of the leaf and arm.

    The leaves are the paper's small separator, of size N: two different mappings differ on one of them, so contexts need not be known in
    advance. A mapping depends on the leaf alone, so the leaves are also the known contexts of its transductive setting, whose bound is the
    better one: order T^(1/2), where a separator alone has T^(2/3) N^(3/4) M sqrt(ln|Pi|). `theory/leaders.py` proves it, with constants.

    - `structure`: as in `hsb.SExp3`. It has N leaves.
    - `regions`: restricts mappings to those with at most `regions` runs of equal arms along the numbered leaves, by dynamic programming,
      O(N M regions) a draw. Default: all mappings, each leaf with its best arm.
    - `horizon`: the number of rounds T to come, for noise of mean size 1/epsilon = sqrt(2 M T / B) and L = ceil(sqrt(M T)); M is the number of
      arms, and B is `hsb.theory.noise_cost`, at most N (1 + ln M).
    - `noise`: the mean size, in place of a `horizon`; then L = ceil(noise sqrt(B/2)). With neither, the size is sqrt(4 M t / B) and
      L = ceil(sqrt(M t)) in round t.
    - `resamples`: L. Default: as above.
    - `arms`, `loss_range`, `reward_range`, `outside`, `floor`, `seed`: as in `hsb.HSB`.

    With all mappings, `probabilities` are exact to about 1e-14. With `regions` they are frequencies over 1000 draws of noise, always the same
    draws: nearly always within 0.05 of the truth, and 0 for rare arms.

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
        "In expectation, against every mapping of its class, whatever the contexts and losses, if every arm is available and feedback comes at "
        "once, without a floor: 2 sqrt(2 B M T) + sqrt(M T)/e, with a horizon; 4 sqrt(B M T) + 2 sqrt(M T)/e without; B <= N (1 + ln M)."
    )

    learner: PerturbedLeader

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
        arm_set = ArmSet(arms)
        table = LeafTotals.fresh(structure, len(arm_set), regions)
        if horizon is not None:
            if noise is not None:
                raise InputError("Give horizon= or noise=, not both: the horizon only sets the noise and the resamples.")
            check_horizon(horizon)
        if noise is not None and not (is_number(noise) and 1.0 / MOST_NOISE <= noise <= MOST_NOISE):
            raise InputError(
                f"noise must be a positive number, the mean size of the noise in units of loss; given {quoted(noise)}."
            )
        settings = Perturbation.of(
            table,
            horizon=None if horizon is None else float(horizon),
            mean=None if noise is None else float(noise),
            resamples=None if resamples is None else whole("resamples", resamples, 1, 10**100),
        )
        common: Any = {"loss_range": loss_range, "reward_range": reward_range, "outside": outside, "floor": floor, "seed": seed}
        super().__init__(arms=arm_set, learner=PerturbedLeader(table, settings), **common)

    @property
    def structure(self) -> Leaves:
        """The leaves of the structure."""
        return self.learner.table.structure

    @property
    def regions(self) -> int | None:
        """The maximum number of regions of a mapping; None without a limit."""
        return self.learner.table.regions

    @property
    def horizon(self) -> float | None:
        """The number of rounds to come, as declared; None if it was not."""
        return self.learner.noise.horizon

    @property
    def noise(self) -> float | None:
        """The mean size of the noise; None if it grows."""
        return self.learner.noise.mean

    @property
    def resamples(self) -> int | None:
        """The maximum number of redraws of a decision, as declared; None if it was not."""
        return self.learner.noise.resamples

    @property
    def totals(self) -> Floats:
        """The estimated total loss of each arm in each leaf: a row for each leaf, a column for each arm."""
        return self.learner.table.totals

    @property
    def mapping(self) -> Ints:
        """The best mapping so far: the index of the arm of each leaf. Ties go to the lowest index."""
        with self.lock:
            settle(self)
            return self.learner.table.best_mapping()

    def regret_bound(self, horizon: float | None = None) -> float:
        """Return B noise + 2 M T / noise + M T / (e L), for T = `horizon` rounds, in expectation against each mapping of the class.

        It holds if every arm is available in every round and feedback comes at once. Infinite with a `floor`. `theory/leaders.py` has the
        proof with these constants; those of the paper's theorem for the transductive setting differ.

        >>> import hsb
        >>> round(CsbFtpl(hsb.BinaryTree(depth=5), arms=3, horizon=100_000).regret_bound())
        9497
        """
        with self.lock:
            settle(self)
            if self.floor > 0.0:
                return math.inf  # nothing is proved with a floor
            noise = self.learner.noise
            rounds = noise.horizon if horizon is None else horizon
            if rounds is None:
                raise InputError(
                    "regret_bound needs a horizon, the number of rounds: this policy has none. Use regret_bound(horizon)."
                )
            if noise.mean is None:
                return csb_ftpl_anytime_bound(noise.cost, arms=noise.arms, horizon=rounds, resamples=noise.resamples)
            most = noise.redraws(1)
            return csb_ftpl_bound(noise.cost, arms=noise.arms, horizon=rounds, noise=noise.mean, resamples=most)

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        return cls(Leaves.from_plain(settings.pop("structure")), **settings, **common)
