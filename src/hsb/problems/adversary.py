"""An adversary that knows the policy's probabilities, but not its random draws, and sets the losses."""

from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from ..checks import whole
from ..errors import InputError, quoted
from ..play import Run
from ..policy import Policy
from ..types import Floats, Ints
from .base import Problem, data_generator, flips
from .paper import waves_and_line

KINDS = ("spite", "contrary", "contradict", "contradict-but-one", "lure", "probabilities")
HINDSIGHT = 8  # cells of the comparator mapping for a fight's regret


@dataclass(frozen=True, repr=False)
class Fight(Run):
    """A `Run` against an adversary, with the contexts and losses that it set. Its `arms` are indices of the policy's arms.

    `hsb.BestFixed.of(structure, run.contexts, run.table)` is the best mapping in hindsight.

    >>> import hsb
    >>> run = Adversary(arms=2).play(hsb.Uniform(arms=2, seed=0), 100, seed=0)
    >>> run.contexts.shape, run.table.shape
    ((100, 1), (100, 2))
    """

    contexts: Floats = field(default_factory=lambda: np.zeros((0, 1)))
    """The contexts, shape (T, 1)."""
    table: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    """The loss of every arm in every round, shape (T, M)."""

    def regret(self, cells: int = HINDSIGHT) -> float:
        """Return the total loss minus that of the best arm, in hindsight, in each of `cells` equal parts of [0, 1].

        The losses were set against this policy, so compare the regrets of policies, never their losses.

        >>> import hsb
        >>> 50 < Adversary(arms=2).play(hsb.Uniform(arms=2, seed=0), 1000, seed=0).regret() < 550
        True
        """
        cell = (self.contexts[:, 0] * whole("cells", cells, 1)).astype(np.int64)
        best = sum(self.table[cell == c].sum(axis=0).min() for c in range(cells))
        return float(self.losses.sum() - best)


class Adversary(Problem):
    """Looks at the policy's probabilities in each round and sets the losses against its most probable arm.

    `kind` is its strategy, and `arms` is the number of arms M.

    - "spite": that arm loses 1, the others nothing. Every policy loses at least 1/M on average, and a policy that is certain of its arm 1.
    - "contrary": it loses 1 with probability 0.9, the others with 0.1.
    - "contradict": it loses 1 with probability 0.9, the others as in `Stationary`. Three arms.
    - "contradict-but-one": the same, but arm 0 is always as in `Stationary`.
    - "lure": arm 0 loses 1 with probability 0.45, another with 0.9 when it is the most probable, else 0.1.
    - "probabilities": each arm loses 1 with the probability with which it is played.

    >>> import hsb
    >>> run = Adversary(arms=2).play(hsb.Uniform(arms=2, seed=0), 100, seed=0)
    >>> len(run), run.table.sum(axis=1).max()
    (100, np.float64(1.0))
    """

    reacts = True

    def __init__(self, *, kind: str = "spite", arms: int = 3) -> None:
        super().__init__(arms=arms)
        if not isinstance(kind, str) or kind not in KINDS:
            raise InputError(f"kind must be one of {', '.join(KINDS)}; given {quoted(kind)}.")
        if kind.startswith("contradict") and self.arms != 3:
            raise InputError(
                f"Adversary(kind={quoted(kind)}) has VI-A's three arms; given arms={arms}. Use kind='spite' or 'lure'."
            )
        self.kind = kind

    def play(self, policy: Policy, rounds: int, seed: int) -> Fight:
        """Let a policy play `rounds` rounds: in each the adversary sees its probabilities and sets the losses, then the arm is drawn.

        Contexts and random losses follow from `seed`. The policy continues from its present state and is changed. Returns a `Fight`.
        """
        self.check(policy)
        rng = data_generator(seed)
        contexts = rng.random((whole("rounds", rounds, 1), 1))
        models = waves_and_line(contexts)
        index = {arm: i for i, arm in enumerate(policy.arms)}
        table = np.empty((rounds, self.arms))
        arms = np.empty(rounds, dtype=np.int64)
        propensities = np.empty(rounds)
        for t in range(rounds):
            context = float(contexts[t, 0])
            p = policy.probabilities(context)
            table[t] = self.losses(rng, models[t] if self.arms == 3 else np.zeros(self.arms), int(np.argmax(p)), p)
            decision = policy.decide(context)
            arms[t], propensities[t] = index[decision.arm], decision.propensity
            policy.learn(decision, loss=float(table[t, arms[t]]))
        losses = table[np.arange(rounds), arms]
        return Fight(arms=arms, losses=losses, propensities=propensities, contexts=contexts, table=table)

    def losses(self, rng: np.random.Generator, model: Floats, target: int, p: Floats | None = None) -> Floats:
        """Draw the losses of one round, an array of 0 and 1, against the arm `target`.

        `model` holds the expected losses of `Stationary` in its context, `p` the probabilities with which arms are played.
        """
        if self.kind == "probabilities":
            return flips(rng, np.eye(len(model))[target] if p is None else p)
        return flips(rng, probabilities(self.kind, model, target))

    def expected(self, contexts: Floats, when: Ints, rounds: int) -> NoReturn:
        why = "An Adversary's losses depend on the policy's probabilities: there is no sample, no expected and no best loss"
        raise InputError(f"{why}. Use adversary.play(policy, rounds, seed), or hsb.evaluate.compare.")


def probabilities(kind: str, model: Floats, target: int) -> Floats:
    """Return the probabilities with which the arms lose, set by an adversary of that `kind` against the arm `target`.

    >>> probabilities("lure", np.zeros(3), 1)
    array([0.45, 0.9 , 0.1 ])
    """
    if kind == "spite":
        return np.asarray(np.arange(len(model)) == target, dtype=np.float64)
    probability = np.full(len(model), 0.1) if kind in ("lure", "contrary") else model.copy()
    probability[target] = 0.9
    if kind == "lure":
        probability[0] = 0.45
    elif kind == "contradict-but-one":
        probability[0] = model[0]
    return probability
