"""`Decision`: one round, and its plain data for queues and journals."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..checks import MOST_ARMS, is_int, is_number, listed, whole
from ..errors import FileError, InputError, StaleDecision, quoted
from ..files.json_values import DEEPEST, decode_arm, decode_context, encode_arm, encode_context
from .learner import NO_MEMO, Memo

if TYPE_CHECKING:
    from .arms import ArmSet
    from .policy import Policy


_new = object.__new__


class Decision:
    """One round: the context, the arm played and the probability with which it was played.

    `policy.decide` makes decisions; make one yourself for a round from a log or another system. Learning uses the propensity stored
    here and never computes it again, so feedback may come late and in any order.

    - `propensity`: the probability with which `arm` was played, in (0, 1].
    - `available`: the arms that were available. Default: all arms of the policy.
    - `id`: a text that no other decision has, in any process; it can be a primary key. Two objects with the same `id` are the same decision
      and count once. None for a decision from elsewhere.
    - `number`: the number of decisions before it in its lineage, the last part of `id`; None if no policy made it.
    - `slot`: its place on its page, from 0 (`hsb.Slate`); 0 for a decision that is no part of a page.

    >>> Decision(context=0.2, arm=1, propensity=0.4)
    Decision(context=0.2, arm=1, propensity=0.4)
    """

    __slots__ = (
        "_arm_set",
        "_learned_by",
        "_lineage",
        "_policy",
        "_probabilities",
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
        slot: int = 0,
    ) -> None:
        self.context = context
        self.arm = arm
        self.propensity = propensity
        self.available: tuple[Hashable, ...] | None = None
        if available is not None:
            if isinstance(available, str | bytes) or not isinstance(available, Iterable):
                raise InputError(f"available must be a list of arms; given {quoted(available)}.")
            self.available = tuple(listed("available", available, MOST_ARMS))
        self._lineage: str | None = None  # of the policy that made it
        self.number: int | None = None  # in that lineage
        if id is not None:
            self._lineage, self.number = _parse_id(id)
        self._learned_by: tuple[tuple[str, int], ...] = ()  # lineage and round of each policy that learned it
        self.memo: Memo = NO_MEMO  # of the moment of deciding, if a policy decided
        if type(slot) is not int or slot != 0:
            self.memo = Memo(slot=whole("slot", slot, 0))
        self._policy: Policy | None = None
        self._arm_set: ArmSet | None = None  # the policy's arms at that moment
        self._probabilities: NDArray[np.float64] | None = None

    @classmethod
    def issue(
        cls, policy: Policy, context: Any, arm: Hashable, propensity: float, available: tuple[Hashable, ...] | None, memo: Memo
    ) -> Decision:
        """Make a policy's own decision, with the next number of its ledger. Faster than the constructor: checks nothing."""
        self, ledger = _new(cls), policy.ledger  # one assignment a line is quicker than several
        self.context = context
        self.arm = arm
        self.propensity = propensity
        self.available = available
        self.number = ledger.issue()
        self._lineage = ledger.lineage
        self._learned_by = ()
        self.memo = memo
        self._policy = policy
        self._arm_set = policy.arm_set
        self._probabilities = None
        return self

    @property
    def id(self) -> str | None:
        """A text that no other decision has; None if no policy made it."""
        return None if self._lineage is None or self.number is None else f"{self._lineage}-{self.number}"

    @property
    def slot(self) -> int:
        """Its place on its page, from 0."""
        return self.memo.slot

    @property
    def page(self) -> str | None:
        """The id of the first decision of its page; None if no policy made it."""
        return None if self._lineage is None or self.number is None else f"{self._lineage}-{self.number - self.slot}"

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The probability of each arm when this decision was made, in the order of `policy.arms`. Computed at the first access.

        Read it before the policy learns: afterwards that distribution is gone, and the access raises `StaleDecision`. Raises `InputError` for
        a decision that no policy made in this process.
        """
        if self._probabilities is None:
            if self._policy is None:
                raise InputError(
                    "No policy in this process made this decision, so its distribution is unknown. "
                    "Use policy.probabilities(context)."
                )
            policy = self._policy
            with policy.lock:
                if policy.rounds != self.memo.rounds or policy.arm_set is not self._arm_set:
                    raise StaleDecision(
                        "The policy has learned since this decision, so the distribution of that moment is gone. "
                        "Read .probabilities before learn(), or call policy.probabilities(context) for the present one."
                    )
                self._probabilities = policy.probabilities(self.context, available=self.available, slot=self.slot)
        return self._probabilities

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON. A policy learns `from_dict` of it as it would this decision, and only one of the two.

        The context may be numbers, strings, booleans, None, dates and times, NumPy arrays and sets (which become lists), and lists, tuples and
        dicts of these. The arm may be None, a boolean, a number, a string, or a tuple of these. Anything else raises `InputError`.

        >>> Decision(context=0.2, arm=("a", 1), propensity=0.4).to_dict()
        {'context': 0.2, 'arm': {'tuple': ['a', 1]}, 'propensity': 0.4}
        """
        if not is_number(self.propensity):
            raise InputError(f"propensity must be a number; given {quoted(self.propensity)}.")
        data: dict[str, Any] = {
            "context": encode_context(self.context),
            "arm": encode_arm(self.arm),
            "propensity": float(self.propensity),
        }
        if self.available is not None:
            data["available"] = [encode_arm(arm) for arm in self.available]
        if self.id is not None:
            data["id"] = self.id
        if self._lineage is not None:
            rounds, arms, advice, cells, _ = self.memo
            data |= {} if cells is None else {"seen": [int(cell) for cell in cells]}
            data |= {"arms": arms, "rounds": rounds, "advice_share": float(advice)}
        if self.slot:
            data["slot"] = self.slot
        return data | ({"learned_by": [list(pair) for pair in self._learned_by]} if self._learned_by else {})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Decision:
        """Make the decision that `to_dict` wrote. Context, arm and propensity suffice. Raises `InputError` if `data` is not a decision.

        >>> Decision.from_dict({"context": 0.2, "arm": {"tuple": ["a", 1]}, "propensity": 0.4})
        Decision(context=0.2, arm=('a', 1), propensity=0.4)
        """
        if not isinstance(data, Mapping):
            raise InputError(f"from_dict needs a dict from Decision.to_dict; given {quoted(data)}.")
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
        decision._learned_by = tuple((lineage, rounds) for lineage, rounds in data.get("learned_by", ()))
        advice = float(data.get("advice_share", -1.0))
        decision.memo = Memo(data.get("rounds", -1), data.get("arms", 0), advice, data.get("seen"), data.get("slot", 0))
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


def not_a_decision(argument: Any) -> InputError:
    """Make the error for an argument that is not a decision. It names only the keys of a dict: the values may be personal."""
    if isinstance(argument, Mapping):
        keys = ", ".join(f"{quoted(key):.40}" for key in islice(argument, 12)) or "nothing in it"
        return InputError(
            f"learn needs a Decision; given a dict with {keys}. hsb.Decision.from_dict makes a decision of a dict from to_dict."
        )
    return InputError(
        f"learn needs a Decision, from policy.decide or made with hsb.Decision(context=, arm=, propensity=); given {quoted(argument)}."
    )


_ID = re.compile(r"(.{1,200})-(0|[1-9][0-9]{0,14})", re.DOTALL)  # lineage and number of a decision


def _parse_id(id: Any) -> tuple[str, int]:
    """Return the lineage and the number of the decision with this id."""
    match = _ID.fullmatch(id) if isinstance(id, str) else None
    if match is None:
        raise InputError(
            f"id must be the text of decision.id; given {quoted(id)}. Leave id out for a decision that hsb did not make."
        )
    return match[1], int(match[2])


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


def _is_learned_by(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) and is_int(pair[1]) for pair in value
    )


# The fields of a decision as plain data: what each must be, in words and as a test.
_FIELDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "context": (f"plain data of at most {2 * DEEPEST} levels: numbers, strings, booleans, None, lists and dicts", _is_plain),
    "arm": ("None, a boolean, a number, a string, or a tuple of these as {'tuple': [...]}", _is_arm),
    "propensity": ("a number", is_number),
    "available": (
        "None or a list of arms",
        lambda value: value is None or (isinstance(value, list) and all(map(_is_arm, value))),
    ),
    "id": (
        "None or the text of decision.id",
        lambda value: value is None or (isinstance(value, str) and bool(_ID.fullmatch(value))),
    ),
    "arms": ("a whole number of at least 0", is_int),
    "rounds": ("a whole number of at least -1", lambda value: is_int(value, -1)),
    "advice_share": (
        "a share in [0, 1], or -1",
        lambda value: is_number(value) and (value == -1 or 0.0 <= value <= 1.0 + 1e-9),
    ),
    "slot": ("a whole number of at least 0", is_int),
    "seen": ("a list of whole numbers", lambda value: isinstance(value, list) and all(map(is_int, value))),
    "learned_by": ("a list of [lineage, round]", _is_learned_by),
}
