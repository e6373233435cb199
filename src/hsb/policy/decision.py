"""What a policy decided."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..checks import MOST_ARMS, is_int, is_number, listed
from ..errors import FileError, InputError, StaleDecision, quoted
from ..files.json_values import DEEPEST, decode_arm, decode_context, encode_arm, encode_context
from .learner import NO_MEMO, Memo

if TYPE_CHECKING:
    from .arms import ArmSet
    from .policy import Policy


class Decision:
    """One round: the context, the arm played and the probability with which it was played.

    `policy.decide` makes them; make one yourself for a round from a log or another system. Learning uses the propensity written
    here, never a recomputed one, so feedback may come late and in any order.

    - `propensity`: the probability with which `arm` was played, in (0, 1].
    - `available`: the arms that were available; None: all that the policy has.
    - `id`: its name, which no other decision has, in any process: text, fit for a primary key. A decision that is made anew with its `id` is
      the same decision, and counts once. None for a decision from elsewhere.
    - `number`: how many decisions the policy had made before in its stream: the last part of `id`; None if no policy numbered it.

    >>> Decision(context=0.2, arm=1, propensity=0.4)
    Decision(context=0.2, arm=1, propensity=0.4)
    """

    __slots__ = (
        "_arm_set",
        "_policy",
        "_probabilities",
        "_stream",
        "_taught",
        "arm",
        "available",
        "context",
        "memo",
        "number",
        "propensity",
    )

    def __init__(
        self,
        *,
        context: Any,
        arm: Hashable,
        propensity: float,
        available: Iterable[Hashable] | None = None,
        id: str | None = None,
    ) -> None:
        self.context = context
        self.arm = arm
        self.propensity = propensity
        self.available: tuple[Hashable, ...] | None = None
        if available is not None:
            if isinstance(available, str | bytes) or not isinstance(available, Iterable):
                raise InputError(f"available must be a list of arms; given {quoted(available)}.")
            self.available = tuple(listed("available", available, MOST_ARMS))
        self._stream: str | None = None  # of the policy that made it
        self.number: int | None = None  # there
        if id is not None:
            self._stream, self.number = _parts(id)
        self._taught: tuple[tuple[str, int], ...] = ()  # which policies have learned from it, and their round
        self.memo: Memo = NO_MEMO  # of the moment in which it was made, if a policy made it
        self._policy: Policy | None = None
        self._arm_set: ArmSet | None = None  # the policy's arms in that moment
        self._probabilities: NDArray[np.float64] | None = None

    @classmethod
    def made(
        cls, policy: Policy, context: Any, arm: Hashable, propensity: float, available: tuple[Hashable, ...] | None, memo: Memo
    ) -> Decision:
        """A policy's own decision, with the next number of its ledger."""
        self = cls.__new__(cls)
        self.context, self.arm, self.propensity, self.available = context, arm, propensity, available
        ledger = policy.ledger
        self.number, self._stream, self._taught, self.memo = ledger.issue(), ledger.stream, (), memo
        self._policy, self._arm_set, self._probabilities = policy, policy.arm_set, None
        return self

    @property
    def id(self) -> str | None:
        """Its name, unique everywhere; None if no policy numbered it."""
        return None if self._stream is None or self.number is None else f"{self._stream}-{self.number}"

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The probability of each arm when this decision was drawn, in the order of `policy.arms`; computed when first asked for.

        Ask before the policy learns anything: afterwards the distribution of that moment is gone, which raises `StaleDecision`. A decision
        that no policy made here raises `InputError`.
        """
        if self._probabilities is None:
            if self._policy is None:
                raise InputError(
                    "This decision was not made by a policy here, so its distribution is unknown. "
                    "Use policy.probabilities(context)."
                )
            policy = self._policy
            with policy.lock:
                if policy.rounds != self.memo.rounds or policy.arm_set is not self._arm_set:
                    raise StaleDecision(
                        "The policy has learned since this decision, whose distribution is gone. Read .probabilities before learn(), "
                        "or ask policy.probabilities(context) for today's."
                    )
                self._probabilities = policy.probabilities(self.context, available=self.available)
        return self._probabilities

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold: a decision that comes back by `from_dict` is learned as this one would be, once.

        The context may be numbers, strings, booleans, None, dates and times, NumPy arrays and sets (which become lists), and lists, tuples and
        dicts of these. The arm may be None, a boolean, a number, a string, or a tuple of these. Anything else raises `InputError`.

        >>> Decision(context=0.2, arm=("a", 1), propensity=0.4).to_dict()
        {'context': 0.2, 'arm': {'tuple': ['a', 1]}, 'propensity': 0.4}
        """
        if not is_number(self.propensity):
            raise InputError(f"propensity must be a number; given {quoted(self.propensity)}.")
        found: dict[str, Any] = {
            "context": encode_context(self.context),
            "arm": encode_arm(self.arm),
            "propensity": float(self.propensity),
        }
        if self.available is not None:
            found["available"] = [encode_arm(arm) for arm in self.available]
        if self.id is not None:
            found["id"] = self.id
        if self._stream is not None:
            rounds, arms, advice, cells = self.memo
            found |= {} if cells is None else {"seen": [int(cell) for cell in cells]}
            found |= {"arms": arms, "rounds": rounds, "advised": float(advice)}
        return found | ({"taught": [list(each) for each in self._taught]} if self._taught else {})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Decision:
        """The decision that `to_dict` wrote. A context, an arm and a propensity are enough. `InputError` where `data` is no decision.

        >>> Decision.from_dict({"context": 0.2, "arm": {"tuple": ["a", 1]}, "propensity": 0.4})
        Decision(context=0.2, arm=('a', 1), propensity=0.4)
        """
        if not isinstance(data, Mapping):
            raise InputError(f"from_dict needs a dict, as Decision.to_dict gives it; given {quoted(data)}.")
        for name in ("context", "arm", "propensity"):
            if name not in data:
                raise InputError(f"A decision needs {quoted(name)}; given {', '.join(map(repr, data)) or 'nothing'}.")
        for name, value in data.items():
            needed, fits = _FIELDS.get(name, ("", None))
            if fits is None:
                raise InputError(f"A decision has no field {quoted(name)}. The fields are {', '.join(_FIELDS)}.")
            if not fits(value):
                raise InputError(f"{quoted(name)} of a decision must be {needed}; given {quoted(value)}.")
        arms = data.get("available")
        decision = cls(
            context=decode_context(data["context"]),
            arm=decode_arm(data["arm"]),
            propensity=float(data["propensity"]),
            available=None if arms is None else [decode_arm(arm) for arm in arms],
            id=data.get("id"),
        )
        decision._taught = tuple((stream, rounds) for stream, rounds in data.get("taught", ()))
        decision.memo = Memo(data.get("rounds", -1), data.get("arms", 0), float(data.get("advised", -1.0)), data.get("seen"))
        return decision

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__ if name not in ("_policy", "_arm_set")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._policy, self._arm_set = None, None

    def __repr__(self) -> str:
        more = "" if self.available is None else f", available={list(self.available)!r}"
        more += "" if self.number is None else f", number={self.number}"
        return f"Decision(context={self.context!r}, arm={self.arm!r}, propensity={self.propensity!r}{more})"


def no_decision(given: Any) -> InputError:
    """What was given to learn from is no decision. Of a dict, the names alone are said: the values may be personal."""
    if isinstance(given, Mapping):
        names = ", ".join(f"{quoted(name):.40}" for name in islice(given, 12)) or "nothing in it"
        return InputError(
            f"learn needs a Decision; given a dict with {names}. hsb.Decision.from_dict makes a decision of what to_dict gave."
        )
    return InputError(
        f"learn needs a Decision, from policy.decide or made with hsb.Decision(context=, arm=, propensity=); given {quoted(given)}."
    )


_NAME = re.compile(r"(.{1,200})-(0|[1-9][0-9]{0,14})", re.DOTALL)  # of a decision: its stream and number


def _parts(name: Any) -> tuple[str, int]:
    """The stream and the number of a decision that has this name."""
    found = _NAME.fullmatch(name) if isinstance(name, str) else None
    if found is None:
        raise InputError(
            f"id must be the text that decision.id gave; given {quoted(name)}. Leave it out for decisions from elsewhere, which "
            "hsb did not make."
        )
    return found[1], int(found[2])


def _is_arm(value: Any) -> bool:
    try:
        hash(decode_arm(value))
    except (FileError, LookupError, TypeError, RecursionError):
        return False
    return True


def _is_plain(value: Any, levels: int = 2 * DEEPEST) -> bool:
    if isinstance(value, dict):
        return levels > 0 and all(isinstance(name, str) and _is_plain(part, levels - 1) for name, part in value.items())
    if isinstance(value, list):
        return levels > 0 and all(_is_plain(part, levels - 1) for part in value)
    return value is None or isinstance(value, bool | int | float | str)


def _is_taught(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, list) and len(each) == 2 and isinstance(each[0], str) and is_int(each[1]) for each in value
    )


# What a decision as plain data may say: what each is, in words and as a test.
_FIELDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "context": (f"plain data of at most {2 * DEEPEST} levels: numbers, strings, booleans, None, lists and dicts", _is_plain),
    "arm": ("None, a boolean, a number, a string, or a tuple of these as {'tuple': [...]}", _is_arm),
    "propensity": ("a number", is_number),
    "available": (
        "None or a list of arms",
        lambda value: value is None or (isinstance(value, list) and all(map(_is_arm, value))),
    ),
    "id": (
        "None or text, as decision.id is",
        lambda value: value is None or (isinstance(value, str) and bool(_NAME.fullmatch(value))),
    ),
    "arms": ("a whole number of at least 0", is_int),
    "rounds": ("a whole number of at least -1", lambda value: is_int(value, -1)),
    "advised": ("a share in [0, 1], or -1", lambda value: is_number(value) and (value == -1 or 0.0 <= value <= 1.0 + 1e-9)),
    "seen": ("a list of whole numbers", lambda value: isinstance(value, list) and all(map(is_int, value))),
    "taught": ("a list of [stream, round]", _is_taught),
}
