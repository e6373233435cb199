"""`Exp4`: exponential weights over experts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike

from ..errors import FileError, quoted
from ..learners.advice import Expert
from ..learners.expert_priors import ExpertsPrior
from ..learners.experts import Experts
from ..learners.rates import LearningRate
from ..policy import Policy
from ..policy.arms import ArmSet
from ..policy.loss_range import UNIT
from ..policy.transaction import settle
from ..structures.mappings import Mappings
from ..types import Arms, Floats, Outside, Range, Seed


class Exp4(Policy):
    """Exponential weights over experts that advise an arm or a distribution over arms (Section I-A).

    Expert k's estimated loss is advice_k[I] loss / p[I] for the arm I that was played; its weight is then
    multiplied by exp(-rate * estimated loss).

    - `experts`: a list of functions of the context, each of which returns an arm, or a number for each of the M arms, with the sum 1. They
      must be pure: advice is computed again when feedback comes. Or the number of experts K: then each context is the advice of that round,
      K arms (labels, or their indices unless labels are numbers) or a table of shape (K, M), and `hsb.simulate` takes tables of shape (T, K)
      or (T, K, M). Or what `hsb.mappings` returns.
    - `prior`: a positive number for each expert, of any sum. Default: all are equal.
    - `horizon`: the number of rounds T to come, for the rate sqrt(2 max ln(1/prior) / (T M)), with equal priors sqrt(2 ln K / (T M)). Or
      give `learning_rate`, a constant above 0. With neither, the rate in round t is about sqrt(max ln(1/prior) / (M t)).
    - `arms`, `loss_range`, `reward_range`, `outside`, `floor`, `seed`: as in `hsb.HSB`.

    If some arms are not `available`, an expert that advises no available arm sleeps: the round ignores it. The advice of the others is scaled
    to the sum 1, and the total weight of the experts awake stays the same. If all sleep, the available arms are equally probable and nothing
    is learned. `add_arm` works unless the experts are mappings; from then on functions may return the new arm, or M+1 numbers. Time and
    memory: O(experts) per round.

    >>> import hsb
    >>> policy = hsb.Exp4([lambda x: "a", lambda x: "b" if x > 0.5 else "a", lambda x: [0.5, 0.5]], arms=["a", "b"], learning_rate=1.0)
    >>> policy.probabilities(0.9)
    array([0.5, 0.5])
    >>> policy.learn(hsb.Decision(context=0.9, arm="a", propensity=0.5), loss=1.0)
    >>> policy.weights.round(3)
    array([0.09 , 0.665, 0.245])
    """

    load_arguments: ClassVar[tuple[str, ...]] = ("experts",)
    guarantee: ClassVar[str] = (
        "In expectation, against every expert over the rounds in which it is awake, whatever the losses, if neither the arm nor its loss "
        "decides whether feedback comes: ln(1/prior)/rate + M T rate/2 at a constant rate, sqrt(2 M T ln K) with a horizon and equal priors, "
        "both without a floor; else regret_bound(T)."
    )

    learner: Experts[ExpertsPrior]

    def __init__(
        self,
        experts: Sequence[Expert] | int | Mappings,
        *,
        arms: Arms,
        horizon: float | None = None,
        learning_rate: float | None = None,
        prior: ArrayLike | None = None,
        loss_range: Range = UNIT,
        reward_range: Range | None = None,
        outside: Outside = "error",
        floor: float = 0.0,
        seed: Seed = None,
    ) -> None:
        arm_set = ArmSet(arms)
        learner = Experts.fresh(
            ExpertsPrior.of(experts, len(arm_set), prior),
            arm_set.arms,
            horizon=horizon,
            learning_rate=learning_rate,
            who=type(self).__name__,
        )
        common: Any = {"loss_range": loss_range, "reward_range": reward_range, "outside": outside, "floor": floor, "seed": seed}
        super().__init__(arms=arm_set, learner=learner, **common)

    @property
    def experts(self) -> list[Expert] | int | Mappings:
        """The experts: functions, mappings, or their number."""
        return self.learner.prior.experts

    @property
    def prior(self) -> Floats:
        """The experts' prior weights, with the sum 1."""
        return self.learner.prior.shares

    @property
    def weights(self) -> Floats:
        """The present weights of the experts: an array in their order, with the sum 1.

        >>> import hsb
        >>> hsb.Exp4(3, arms=2, learning_rate=0.1, prior=[1, 1, 2]).weights
        array([0.25, 0.25, 0.5 ])
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
        """Return max ln(1/prior) / rate + M T rate / 2, for T = `horizon` rounds; with the rate of theory and equal priors, sqrt(2 M T ln K).

        >>> import hsb
        >>> round(hsb.Exp4(50, arms=3, horizon=100_000).regret_bound()), round(hsb.theory.exp4_bound(arms=3, horizon=100_000, experts=50))
        (1532, 1532)
        """
        with self.lock:
            settle(self)
            return self.learner.bound(horizon, floor=self.floor)

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        experts, functions = settings.pop("experts"), settings.pop("functions")
        if functions is not None:
            if experts is None:
                raise FileError(
                    f"its {functions} experts are functions, which a file cannot hold. Give the same ones, in the same order: "
                    "hsb.load(path, experts=[...])."
                )
            if not isinstance(experts, list | tuple) or len(experts) != functions or not all(map(callable, experts)):
                raise FileError(
                    f"experts= must be a list of the {functions} functions that it was saved with; given {quoted(experts)}."
                )
        elif isinstance(experts, dict):
            experts = Mappings.from_plain(experts)
        elif not isinstance(experts, int):
            raise FileError(
                f"its experts are not functions, so the file holds them. Leave experts= out; given {quoted(experts)}."
            )
        return cls(experts, **settings, **common)
