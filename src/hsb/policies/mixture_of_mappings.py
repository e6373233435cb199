"""`MixtureOfMappings`: the algorithm of Section III, a mixture of all M^N mappings, one by one."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

from ..learners.expert_priors import MappingsPrior
from ..learners.experts import Experts
from ..learners.rates import LearningRate
from ..policy import Policy
from ..policy.arms import ArmSet
from ..policy.loss_range import UNIT
from ..policy.transaction import settle
from ..structures import Structure
from ..structures.leaves import Divided, Leaves
from ..structures.mappings import Mappings
from ..types import Arms, Floats, Outside, Range, Seed


class MixtureOfMappings(Policy):
    """A mixture in which every mapping of the N leaves to M arms is an expert with its weight (Section III). It tests faster policies.

    With `prior="uniform"` it equals `SExp3`. With `prior="complexity"`, a mapping has the weight exp(-theory.prior_cost(structure, mapping)),
    and the policy equals `HSB` with `drift=None`. Those two compute the same without listing M^N experts. More than 2^20 mappings, or 2^16
    with the complexity prior, raise `BudgetError`.

    - `structure`: as in `hsb.SExp3`; the complexity prior needs a structure.
    - `horizon`, `learning_rate`: as in these two. With neither, the rate in round t is about sqrt(A / (M t)), A as in `regret_bound`.
    - `regions`, `stop`: as in `hsb.HSB`, for the complexity prior only.
    - `arms`, `loss_range`, `reward_range`, `outside`, `floor`, `seed`: as in `hsb.HSB`.

    `add_arm` raises `InputError`: the list of mappings is fixed. Time and memory: O(M^N) per round.

    >>> import hsb
    >>> slow = hsb.MixtureOfMappings(hsb.BinaryTree(depth=2), arms=2, prior="complexity", learning_rate=0.5)
    >>> fast = hsb.HSB(hsb.BinaryTree(depth=2), arms=2, learning_rate=0.5)
    >>> for policy in (slow, fast):
    ...     policy.learn(hsb.Decision(context=0.3, arm=0, propensity=0.2), loss=1.0)
    >>> slow.probabilities(0.8).round(12) == fast.probabilities(0.8).round(12)
    array([ True,  True])
    """

    guarantee: ClassVar[str] = (
        "In expectation, against every mapping of the leaves, whatever the contexts and losses, if neither the arm nor its loss decides "
        "whether feedback comes: ln(1/prior)/rate + M T rate/2 (Theorem 1), at a constant rate and without a floor; else regret_bound(T)."
    )

    learner: Experts[MappingsPrior]

    def __init__(
        self,
        structure: Divided,
        *,
        arms: Arms,
        horizon: float | None = None,
        regions: int | None = None,
        learning_rate: float | None = None,
        prior: Literal["uniform", "complexity"] = "uniform",
        stop: float | None = None,
        loss_range: Range = UNIT,
        reward_range: Range | None = None,
        outside: Outside = "error",
        floor: float = 0.0,
        seed: Seed = None,
    ) -> None:
        arm_set = ArmSet(arms)
        learner = Experts.fresh(
            MappingsPrior.of(structure, len(arm_set), prior, regions=regions, stop=stop),
            arm_set.arms,
            horizon=horizon,
            learning_rate=learning_rate,
            who=type(self).__name__,
        )
        common: Any = {"loss_range": loss_range, "reward_range": reward_range, "outside": outside, "floor": floor, "seed": seed}
        super().__init__(arms=arm_set, learner=learner, **common)

    @property
    def structure(self) -> Structure:
        """The structure whose leaves the mappings map."""
        return self.learner.prior.structure

    @property
    def prior(self) -> Literal["uniform", "complexity"]:
        """The kind of prior weights."""
        return self.learner.prior.shape

    @property
    def regions(self) -> int | None:
        """For the complexity prior, the number of regions of the mappings that set the rate; None: as many as arms."""
        return self.learner.prior.regions

    @property
    def stop(self) -> float | None:
        """For the complexity prior, a tree's prior probability of stopping at a node; None is one half."""
        return self.learner.prior.stop

    @property
    def mappings(self) -> Mappings:
        """The mappings with positive prior weight."""
        return self.learner.prior.mappings

    @property
    def weights(self) -> Floats:
        """The present weights of the mappings: an array in the order of `mappings`, with the sum 1.

        >>> import hsb
        >>> hsb.MixtureOfMappings(2, arms=2).weights
        array([0.25, 0.25, 0.25, 0.25])
        """
        with self.lock:
            settle(self)
            return self.learner.weights

    @property
    def learning_rate(self) -> LearningRate:
        """The constant rate, as declared or from the `horizon`; None if the rate falls."""
        return self.learner.rates.learning_rate

    @property
    def horizon(self) -> float | None:
        """The number of rounds to come, as declared; None if it was not."""
        return self.learner.rates.horizon

    @property
    def rate(self) -> float:
        """The rate of the next update."""
        with self.lock:
            settle(self)
            return self.learner.rates.rate

    def regret_bound(self, horizon: float | None = None) -> float:
        """Return A / rate + M T rate / 2, for T = `horizon` rounds; A = N ln M; for the complexity prior `hsb.theory.worst_cost`.

        >>> import hsb
        >>> tree = hsb.BinaryTree(depth=3)
        >>> bounds = [hsb.MixtureOfMappings(tree, arms=2, horizon=1000, prior=prior).regret_bound() for prior in ("uniform", "complexity")]
        >>> bounds == [hsb.SExp3(tree, arms=2, horizon=1000).regret_bound(), hsb.HSB(tree, arms=2, horizon=1000).regret_bound()]
        True
        """
        with self.lock:
            settle(self)
            return self.learner.bound(horizon, floor=self.floor)

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        leaves = Leaves.from_plain(settings.pop("structure"))
        return cls(leaves if leaves.of is None else leaves.of, **settings, **common)
