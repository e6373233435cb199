"""Decisions without a trace, learned as the policy's own: for those who keep a journal and count each decision once themselves."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import function, is_number
from ..errors import InputError, quoted
from ..types import Floats, Ints, Masks
from .copying import Kept
from .decision import Decision
from .tables import each_row, each_u


class Journalled(Kept):
    """What a journal needs of a policy: a decision is a pure function of (state, context, u), a state one of its lessons."""

    arms: list[Hashable]

    def propose(
        self,
        context: Any,
        *,
        u: float,
        available: Iterable[Hashable] | None = None,
        mixed: Callable[[Floats], Floats] | None = None,
    ) -> Decision:
        """The decision that `decide` would make for this `u`, a number in [0, 1), but without an `id`; nothing is drawn, numbered or counted.

        For those who keep a journal of decisions themselves. `mixed` takes the policy's distribution over `arms` and returns the one to draw
        from, e.g. with a share for a baseline; None draws from the policy's own. `learn_proposed` learns the decision, here or in a policy in
        the same state elsewhere, to which its attributes `rounds`, `advised` and `seen` must be handed over too. `available` as in `decide`.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b"], learning_rate=0.1)
        >>> policy.propose(0.5, u=0.7, mixed=lambda p: 0.5 * p + [0.5, 0.0])
        Decision(context=0.5, arm='a', propensity=0.75)
        """
        if not (is_number(u) and 0.0 <= u < 1.0):
            raise InputError(f"u must be in [0, 1), a number; given {quoted(u)}.")
        mixed = function("mixed", mixed)
        offered = self.offer.now if available is None else self.offer.mask(available)
        self._locate(context, count=False)
        if mixed is None:
            index, propensity = self._floored(offered, float(u))
        else:
            p = np.empty(len(self.arms))
            self._fill(offered, p)
            index, propensity = _drawn(mixed(self._raised(p, offered)), float(u), len(p))
        names = None if available is None and not self.offer.removed else self.offer.names(offered)
        made = Decision(context=context, arm=self.arms[index], propensity=propensity, available=names)
        made.offered, made.rounds = len(self.arms), self.rounds
        made.advised, made.seen = self._advice_on(index), self._saw()
        return made

    def propose_many(self, contexts: Iterable[Any], *, u: ArrayLike) -> list[Decision | None]:
        """The decisions that `propose` would make for each of a list of contexts and its `u`, bit for bit; None where it would refuse one.

        >>> import hsb
        >>> policy = hsb.HSB(arms=["a", "b"])
        >>> policy.propose_many([{"age": 31}, {"age": [31]}], u=[0.2, 0.7])
        [Decision(context={'age': 31}, arm='a', propensity=0.5), None]
        """
        rows = each_row("contexts", contexts)
        return self._propose_rows(rows, each_u(u, len(rows)).tolist())

    def _propose_rows(self, contexts: list[Any], us: list[float]) -> list[Decision | None]:
        return [self._proposed(context, u) for context, u in zip(contexts, us, strict=True)]

    def _proposed(self, context: Any, u: float) -> Decision | None:
        try:
            return self.propose(context, u=u)
        except InputError:
            return None

    def learn_proposed(self, decision: Decision, *, loss: float | None = None, reward: float | None = None) -> None:
        """Learn the `loss` (or the `reward`) of a decision that `propose` made, as `learn` learns one that `decide` made.

        Nothing here tells whether it was learned before: that is for the journal to know. A decision with an `id` raises `InputError`.

        >>> import hsb
        >>> policy = hsb.HSB(arms=["a", "b"])
        >>> policy.learn_proposed(policy.propose({"age": 31}, u=0.4), reward=1.0)
        >>> policy.rounds, policy.ledger.issued
        (1, 0)
        """
        value, rewarded = self.loss_scale.given(loss, reward)
        offered, index, _ = self._checked(decision)
        if decision.id is not None:
            raise InputError(
                f"learn_proposed needs a decision without a number, from propose; given {quoted(decision)}. Use learn."
            )
        self._learn(decision, offered, index, True, value, rewarded)

    def _saw(self) -> Ints | None:
        raise NotImplementedError

    def _fill(self, offered: Masks, p: Floats) -> None:
        raise NotImplementedError


def _drawn(q: Floats, u: float, arms: int) -> tuple[int, float]:
    """The arm that u draws from a distribution, and its probability; sums go from the first arm on, on every machine."""
    q = np.asarray(q, dtype=np.float64)
    if q.shape != (arms,) or not (q >= 0.0).all():
        raise InputError(f"mixed must give a probability for each of the {arms} arms; it gave {quoted(q)}.")
    sums = np.cumsum(q)
    if not abs(sums[-1] - 1.0) <= 1e-9:
        raise InputError(f"mixed must give probabilities that add to 1; they add to {float(sums[-1])!r}.")
    index = int(np.searchsorted(sums, u, side="right"))
    if index >= arms or q[index] <= 0.0:
        index = int(np.flatnonzero(q)[-1])
    return index, min(float(q[index]), 1.0)
