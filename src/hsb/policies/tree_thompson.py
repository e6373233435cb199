"""`TreeThompson`: a context tree with Thompson sampling; the two passes of HSB, with Beta counts in the nodes."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, ClassVar, Self

from ..checks import is_number, is_scalar, stop_prior
from ..errors import InputError, quoted
from ..learners.thompson_tree import ThompsonTree, TreeModel
from ..policy import Policy
from ..policy.arms import ArmSet
from ..policy.loss_range import UNIT
from ..structures import KaryTree, Structure, from_dict
from ..types import Arms, Outside, Range, Seed

PRIOR = (1e-3, 1e6)  # the least and the most of a prior count


class TreeThompson(Policy):
    """Thompson sampling in every node of a tree, with nodes weighted by how well they predict. For losses that are drawn at random.

    A node counts good (1 - loss) and bad (loss) for each arm, beginning with the `prior`. It stops, with prior probability `stop`, or passes
    the context to its child; the posterior odds follow Bayes' rule (context tree weighting). With arm I, loss l and p the node's
    bad / (good + bad) of I, the node predicted q = p^l (1-p)^(1-l); from the leaf up, stop *= q and go *= the child's ratio, which is the
    sum of the child's two. A decision walks down to a node that stops, draws a Beta for each available arm there, and plays
    the arm with the lowest draw. Learning does not use the propensity.

    - `structure`: `BinaryTree` or `KaryTree`, up to 504 levels with the default `stop`. Memory: at most two rows for each context visited.
    - `forgetting`: a number a little below 1, e.g. 0.997, for losses that change; None never forgets. At each visit to a node, before the
      round is counted, the counts of the arm played are multiplied by it, those of the other arms by 1 - (1 - forgetting)/10, and the
      evidence ratio of child and node is raised to that power. All tend to the prior. A chain of nodes with the same rounds counts as one
      node there.
    - `stop`: the prior probability of stopping at a node, in [0, 1). Default: one half.
    - `prior`: the initial counts (good, bad) of every arm in every node, each from 0.001 to 1,000,000.
    - `arms`, `loss_range`, `reward_range`, `outside`, `floor`, `seed`: as in `hsb.HSB`.

    A decision's propensity is an integral, good to 1e-8 and at least 1e-12, and takes longer than the decision; `simulate` gives NaN instead.

    >>> import hsb
    >>> policy = TreeThompson(hsb.BinaryTree(depth=10), arms=3, seed=0)
    >>> decision = policy.decide(0.37)
    >>> policy.learn(decision, loss=1.0)
    >>> policy.probabilities(0.37).round(3)[decision.arm]
    np.float64(0.167)
    """

    guarantee: ClassVar[str] = (
        "None if an adversary picks the losses. For losses drawn at random, arm by arm, it is Bayes' rule with a heuristic choice of arm."
    )

    learner: ThompsonTree

    def __init__(
        self,
        structure: Structure,
        *,
        arms: Arms,
        forgetting: float | None = None,
        stop: float | None = None,
        prior: tuple[float, float] = (1.0, 1.0),
        loss_range: Range = UNIT,
        reward_range: Range | None = None,
        outside: Outside = "error",
        floor: float = 0.0,
        seed: Seed = None,
    ) -> None:
        if not isinstance(structure, KaryTree):
            raise InputError(
                f"TreeThompson needs a tree, hsb.BinaryTree(depth=10) or hsb.KaryTree(k=3, depth=6); given {quoted(structure)}. "
                "hsb.HSB takes every structure."
            )
        if forgetting is not None and not (is_number(forgetting) and 0.0 < forgetting < 1.0):
            raise InputError(
                f"forgetting must be in (0, 1), e.g. 0.997, or None to forget nothing; given {quoted(forgetting)}."
            )
        model = TreeModel(structure, stop_prior(stop), _counts(prior), None if forgetting is None else float(forgetting))
        arm_set = ArmSet(arms)
        common: Any = {"loss_range": loss_range, "reward_range": reward_range, "outside": outside, "floor": floor, "seed": seed}
        super().__init__(arms=arm_set, learner=ThompsonTree(model, len(arm_set)), **common)

    @property
    def structure(self) -> KaryTree:
        """The tree."""
        return self.learner.model.structure

    @property
    def stop(self) -> float | None:
        """The prior probability of stopping at a node; None is one half."""
        return self.learner.model.stop

    @property
    def prior(self) -> tuple[float, float]:
        """The initial counts (good, bad) of every arm in every node."""
        return self.learner.model.prior

    @property
    def forgetting(self) -> float | None:
        """The factor that a visit applies to the counts of the arm played; None forgets nothing."""
        return self.learner.model.forgetting

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        return cls(from_dict(settings.pop("structure")), **settings, **common)


def _counts(prior: tuple[float, float]) -> tuple[float, float]:
    several = isinstance(prior, Iterable) and not isinstance(prior, str | bytes) and not is_scalar(prior)
    pair = tuple(islice(prior, 3)) if several else ()
    if len(pair) != 2 or not all(is_number(v) and PRIOR[0] <= v <= PRIOR[1] for v in pair):
        raise InputError(
            f"prior must be (good, bad), the initial counts of every arm in every node: two numbers in [{PRIOR[0]:g}, {PRIOR[1]:g}], "
            f"e.g. (1, 1); given {quoted(prior)}."
        )
    return float(pair[0]), float(pair[1])
