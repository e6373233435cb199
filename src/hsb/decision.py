"""What a policy decided."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError, StaleDecision

if TYPE_CHECKING:
    from .ledger import Ledger
    from .policy import Policy


class Decision:
    """One round: the context, the arm played and the probability with which it was played.

    `policy.decide` makes them; make one yourself for a round from a log or another system. Learning uses the propensity written
    here, never a recomputed one, so feedback may come late and in any order.

    >>> Decision(context=0.2, arm=1, propensity=0.4)
    Decision(context=0.2, arm=1, propensity=0.4)
    """

    __slots__ = (
        "_policy",
        "_probabilities",
        "_stream",
        "_taught",
        "_version",
        "advised",
        "arm",
        "available",
        "context",
        "id",
        "offered",
        "propensity",
        "rounds",
    )

    def __init__(
        self,
        *,
        context: Any,
        arm: Hashable,
        propensity: float,
        available: Iterable[Hashable] | None = None,
        id: int | None = None,
    ) -> None:
        self.context = context
        self.arm = arm
        self.propensity = propensity
        self.available: tuple[Hashable, ...] | None = None
        if available is not None:
            if isinstance(available, str | bytes) or not isinstance(available, Iterable):
                raise InputError(f"available must be a list of arms; given {available!r}.")
            self.available = tuple(available)
        self.id = id
        self._stream: str | None = None  # which policy issued it
        self._taught: tuple[tuple[str, int], ...] = ()  # which policies have learned from it, and their round
        self.offered = 0  # how many arms there were, if it was made here
        self.rounds = -1  # and how many rounds had been learned
        self.advised = -1.0  # and how much of the advice was on this arm, where there is an advisor
        self._policy: Policy | None = None
        self._version = -1
        self._probabilities: NDArray[np.float64] | None = None

    @classmethod
    def made(
        cls,
        policy: Policy,
        context: Any,
        arm: Hashable,
        propensity: float,
        available: tuple[Hashable, ...] | None,
        ledger: Ledger,
    ) -> Decision:
        """A policy's own decision, with the next number of its ledger."""
        self = cls.__new__(cls)
        self.context, self.arm, self.propensity, self.available = context, arm, propensity, available
        self.id, self._stream, self._taught = ledger.issue(), ledger.stream, ()
        self.offered, self._policy, self._version, self._probabilities = len(policy.arms), policy, policy.version, None
        self.rounds, self.advised = policy.rounds, -1.0
        return self

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The whole distribution this decision was drawn from, computed when first asked for.

        Ask before the policy learns anything: afterwards the distribution of that moment is gone and this raises
        `StaleDecision`.
        """
        if self._probabilities is None:
            if self._policy is None:
                raise InputError(
                    "This decision was not made by a policy here, so its distribution is unknown. "
                    "Use policy.probabilities(context)."
                )
            if self._policy.version != self._version:
                raise StaleDecision(
                    "The policy has learned since this decision, whose distribution is gone. Read .probabilities before learn(), "
                    "or ask policy.probabilities(context) for today's."
                )
            self._probabilities = self._policy.probabilities(self.context, available=self.available)
        return self._probabilities

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__ if name not in ("_policy", "_version")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.rounds, self.advised = -1, -1.0
        for name, value in state.items():
            setattr(self, "offered" if name == "_offered" else name, value)
        self._policy, self._version = None, -1

    def __repr__(self) -> str:
        more = "" if self.available is None else f", available={list(self.available)!r}"
        more += "" if self.id is None else f", id={self.id}"
        return f"Decision(context={self.context!r}, arm={self.arm!r}, propensity={self.propensity!r}{more})"
