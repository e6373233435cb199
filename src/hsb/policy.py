"""What every policy is: it decides, learns from late or logged feedback, and its arms may come and go."""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import arm_list, generator, is_hashable, is_number, loss_bounds, shown
from .decision import Decision
from .errors import InputError
from .ledger import Ledger
from .types import Arrays, Floats, Masks


class Policy(ABC):
    """The interface that all policies share, and what they need in common: arms, losses, a ledger of decisions, random numbers.

    A policy of its own kind fills in the methods under "what a policy fills in". `_locate` keeps the context; `_choose`, `_fill` and `_update`
    then speak of it. A decision is a pure function of state, context and one number u.
    """

    kinds: ClassVar[dict[str, type[Policy]]] = {}  # filled as classes are defined; `hsb.load` looks here

    guarantee: ClassVar[str] = "none"
    """What is proved of it, in one sentence."""

    asked_again: ClassVar[tuple[str, ...]] = ()
    """What a file cannot hold and `hsb.load` must be given."""

    def __init_subclass__(cls, *, listed: bool = True) -> None:
        super().__init_subclass__()
        if listed:
            Policy.kinds[cls.__name__] = cls

    def __init__(
        self,
        *,
        arms: int | Iterable[Hashable],
        loss_range: tuple[float, float] = (0.0, 1.0),
        seed: int | np.random.Generator | None = None,
    ) -> None:
        self.arms = arm_list(arms)
        self.loss_range = loss_bounds(loss_range)
        self.rounds = 0  # rounds learned from
        self.clipped = 0  # contexts that lay outside the space and were clipped
        self._rng = generator(seed)
        self._ledger = Ledger()
        self._removed: set[Hashable] = set()

    # -- one round ---------------------------------------------------------------------------------------------------

    def decide(self, context: Any, *, available: Iterable[Hashable] | None = None, u: float | None = None) -> Decision:
        """Choose an arm for a context, among those `available` if given. Nothing is learned yet.

        A decision is a pure function of (state, context, u); `u` in [0, 1) is drawn from the policy's generator unless given.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b", "c"], learning_rate=0.1)
        >>> policy.decide(0.5, available=["c"]).propensity
        1.0
        """
        offered = self._all if available is None else self._mask(available)
        if u is not None and not (is_number(u) and 0.0 <= u < 1.0):
            raise InputError(f"u must be in [0, 1), a number; given {u!r}.")
        self._locate(context, count=True)
        u = self._rng.random() if u is None else float(u)
        index, propensity = self._choose(offered, u)
        if type(context) is not float and isinstance(context, list | np.ndarray):
            context = context.copy()  # the caller may use it again
        decision = Decision(context=context, arm=self.arms[index], propensity=propensity, id=self._ledger.issue())
        if len(offered):
            decision.available = self._offered_now(offered)
        decision._stream = self._ledger.stream
        decision._policy = self
        decision._version = self._version
        decision._offered = len(self.arms)
        return decision

    def learn(self, decision: Decision, *, loss: float | None = None, reward: float | None = None) -> None:
        """Learn the loss (or the reward) of a decision: this policy's, now or later, or one from a log.

        Learning twice from one decision is refused.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=2, learning_rate=0.1)
        >>> policy.learn(hsb.Decision(context=0.2, arm=1, propensity=0.4), reward=1.0)
        """
        if not isinstance(decision, Decision):
            raise InputError(
                "learn needs a Decision, from policy.decide or made with hsb.Decision(context=, arm=, propensity=); "
                f"given {decision!r}."
            )
        scaled = self._scaled_loss(loss, reward)
        index = self._arm_index(decision.arm)
        propensity = decision.propensity
        if not is_number(propensity) or not 0.0 < propensity <= 1.0:
            raise InputError(
                f"propensity must be in (0, 1], the probability with which the arm was played; given {propensity!r}."
            )
        own = self._ledger.check(decision)
        offered = self._offered_then(decision, own)
        if len(offered) and not offered[index]:
            raise InputError(f"Arm {decision.arm!r} was not among the available {shown(decision.available or ())}.")
        self._locate(decision.context, count=not own)
        self._update(offered, index, scaled, float(propensity))
        self.rounds += 1
        self._version += 1
        self._ledger.close(decision, self.rounds, own=own)

    def probabilities(self, context: Any, *, available: Iterable[Hashable] | None = None) -> Floats:
        """The distribution over arms for a context. Changes nothing.

        >>> import hsb
        >>> hsb.HSB(hsb.BinaryTree(depth=4), arms=4, learning_rate=0.1).probabilities(0.3, available=[0, 2])
        array([0.5, 0. , 0.5, 0. ])
        """
        offered = self._all if available is None else self._mask(available)
        self._locate(context, count=False)
        p = np.empty(len(self.arms))
        self._fill(offered, p)
        return p

    # -- arms --------------------------------------------------------------------------------------------------------

    def add_arm(self, arm: Hashable) -> None:
        """Add an arm while running, or bring a removed one back.

        Where a policy keeps weights over arms, the new arm gets the share 1/(M+1) and the others are scaled by M/(M+1). A rate that came
        from `horizon` is set anew for M+1 arms; one given as `learning_rate` stays.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b", "c"], learning_rate=0.1)
        >>> policy.add_arm("d")
        >>> policy.probabilities(0.3)
        array([0.25, 0.25, 0.25, 0.25])
        """
        if not is_hashable(arm):
            raise InputError(f"An arm must be hashable: a name, a number, a tuple; given {arm!r}.")
        if arm in self._index:
            if arm in self._removed:
                self._removed.remove(arm)
                self._refresh()
                return
            raise InputError(f"There is an arm {arm!r} already. Arms must differ.")
        self._widen()
        self.arms.append(arm)
        self._refresh()

    def remove_arm(self, arm: Hashable) -> None:
        """Never offer an arm again, until it is added back. What was learned of it is kept.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b", "c"], learning_rate=0.1)
        >>> policy.remove_arm("b")
        >>> policy.active_arms, policy.probabilities(0.3)
        (['a', 'c'], array([0.5, 0. , 0.5]))
        """
        if not is_hashable(arm) or arm not in self._index or arm in self._removed:
            raise InputError(f"There is no arm {arm!r} to remove. The arms are {shown(self.active_arms)}.")
        if len(self.active_arms) == 1:
            raise InputError(f"{arm!r} is the last arm; a policy needs at least one. Add another first.")
        self._removed.add(arm)
        self._refresh()

    @property
    def active_arms(self) -> list[Hashable]:
        """The arms that are offered by default: all but those removed."""
        return [arm for arm in self.arms if arm not in self._removed]

    # -- the whole policy --------------------------------------------------------------------------------------------

    def regret_bound(self, horizon: float | None = None) -> float:
        """What is proved of its expected regret over so many rounds (by default those it was made for): infinite where nothing is.

        In units of the width of `loss_range`.

        >>> import hsb
        >>> hsb.Uniform(arms=3).regret_bound(1000)
        inf
        """
        return math.inf

    def copy(self) -> Self:
        """An independent policy in the same state, its random numbers included.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=2, learning_rate=0.1, seed=0)
        >>> policy.copy().decide(0.3).arm == policy.decide(0.3).arm
        True
        """
        twin = copy.copy(self)
        twin.arms = list(self.arms)
        twin._rng = copy.deepcopy(self._rng)
        twin._ledger = self._ledger.fork(self.rounds)
        twin._removed = set(self._removed)
        twin._detach()
        twin._refresh()
        return twin

    def save(self, path: str | Path) -> None:
        """Write the policy to a file: versioned, no code inside, written whole or not at all. `hsb.load` reads it back.

        Arms must be None, booleans, numbers, strings or tuples of these.
        """
        from .storage import save

        save(self, path)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._ledger = self._ledger.fork(self.rounds)
        self._refresh()

    @property
    def nbytes(self) -> int:
        """Memory that the state takes."""
        return sum(array.nbytes for array in self._arrays().values())

    def __repr__(self) -> str:
        inside = [f"{name}={value!r}" for name, value in self._shown().items()]
        return f"{type(self).__name__}({', '.join([*inside, f'arms={shown(self.arms)}', f'rounds={self.rounds}'])})"

    # -- what a policy fills in --------------------------------------------------------------------------------------

    @abstractmethod
    def _locate(self, context: Any, *, count: bool) -> None:
        """Check a context and keep what the next call of `_choose`, `_fill` or `_update` needs; count it in `clipped` if clipped."""

    @abstractmethod
    def _choose(self, offered: Masks, u: float) -> tuple[int, float]:
        """The arm for the located context and its propensity; `offered` is empty where every arm is. Changes nothing."""

    @abstractmethod
    def _fill(self, offered: Masks, p: Floats) -> None:
        """The distribution over arms for the located context, into p. Changes nothing."""

    @abstractmethod
    def _update(self, offered: Masks, index: int, loss: float, propensity: float) -> None:
        """Learn the scaled loss of an arm at the located context. `rounds` counts it only afterwards."""

    @abstractmethod
    def _check_contexts(self, contexts: ArrayLike) -> tuple[NDArray[Any], int]:
        """A whole table of contexts, checked, one row each, and how many were clipped."""

    @abstractmethod
    def _play(
        self, points: NDArray[Any], masks: Masks, losses: Floats, us: Floats, played: Any, chances: Floats, to_come: int
    ) -> None:
        """`_choose` and `_update` for each row of a part of a table; fill played and chances. `masks` may have no columns: all offered."""

    @abstractmethod
    def _settings(self) -> dict[str, Any]:
        """The constructor's other arguments as plain data; `_from_settings` reads them."""

    @classmethod
    def _from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        """A fresh policy; `common` holds arms, loss_range and seed."""
        return cls(**settings, **common)

    @abstractmethod
    def _arrays(self) -> Arrays:
        """All that it learned, by name. Empty before the first `_refresh`."""

    def _set_arrays(self, arrays: Arrays) -> None:
        """Take over what `_arrays` gave, in a fresh policy; ValueError where it does not fit."""
        for name, fresh in self._arrays().items():
            given = arrays[name]
            if given.shape != fresh.shape or given.dtype != fresh.dtype:
                raise ValueError(f"its {name} does not fit its settings")
            if given.dtype.kind == "f" and not np.isfinite(given).all():
                raise ValueError("its state holds numbers that are not finite")
            fresh[...] = given

    def _widen(self) -> None:
        """Make room for one more arm; `arms` does not have it yet."""
        raise InputError(f"{type(self).__name__} cannot take another arm while running. Make a new one with all the arms.")

    @abstractmethod
    def _detach(self) -> None:
        """Copy the state, in a policy that still shares it with another."""

    def _shown(self) -> dict[str, Any]:
        """What `repr` says of it."""
        return self._settings()

    def _refresh(self) -> None:
        """Scratch and look-up tables, after the arms or the arrays changed."""
        self._index = {arm: i for i, arm in enumerate(self.arms)}
        self._p = np.empty(len(self.arms))
        self._everything = np.zeros(0, dtype=np.uint8)
        self._all = self._everything
        if self._removed:
            self._all = np.array([arm not in self._removed for arm in self.arms], dtype=np.uint8)
        self._version = getattr(self, "_version", 0) + 1

    # -- inside ------------------------------------------------------------------------------------------------------

    def _mask(self, available: Iterable[Hashable], *, past: bool = False) -> Masks:
        """One byte per arm; empty where every arm is offered. A removed arm may have been available in the past."""
        mask = np.zeros(len(self.arms), dtype=np.uint8)
        if isinstance(available, str | bytes) or not isinstance(available, Iterable):
            raise InputError(f"available must be a list of arms out of {shown(self.arms)}; given {available!r}.")
        for arm in available:
            index = self._index.get(arm) if is_hashable(arm) else None
            if index is None or (isinstance(arm, bool | np.bool_) and not isinstance(self.arms[index], bool)):
                raise InputError(f"Unknown arm {arm!r} in available, which lists arms. The arms are {shown(self.arms)}.")
            if arm in self._removed and not past:
                raise InputError(f"Arm {arm!r} in available was removed. policy.add_arm({arm!r}) brings it back.")
            mask[index] = 1
        if not mask.any():
            raise InputError("available is empty: a round needs at least one arm. Leave it out to offer every arm.")
        return self._everything if mask.all() else mask

    def _arm_index(self, arm: Hashable) -> int:
        try:
            return self._index[arm]
        except (KeyError, TypeError):
            raise InputError(f"Unknown arm {arm!r}. The arms are {shown(self.arms)}; policy.add_arm() adds one.") from None

    def _offered_then(self, decision: Decision, own: bool) -> Masks:
        """The arms that a decision could choose from; an arm added since was not among them."""
        if decision.available is not None:
            return self._mask(decision.available, past=True)
        if own and 0 < decision._offered < len(self.arms):
            return (np.arange(len(self.arms)) < decision._offered).astype(np.uint8)
        return self._everything

    def _offered_now(self, offered: Masks) -> tuple[Hashable, ...]:
        return tuple(arm for i, arm in enumerate(self.arms) if not len(offered) or offered[i])

    def _scaled_loss(self, loss: float | None, reward: float | None) -> float:
        if reward is None and type(loss) is float and self.loss_range == (0.0, 1.0) and 0.0 <= loss <= 1.0:
            return loss
        if (loss is None) == (reward is None):
            given = "neither" if loss is None else "both"
            raise InputError(f"learn needs loss= or reward=, exactly one; given {given}.")
        low, high = self.loss_range
        value = loss if reward is None else reward
        if isinstance(value, bool | np.bool_):  # a click is often a boolean
            value = float(value)
        if not is_number(value) or not low <= value <= high:
            name = "loss" if reward is None else "reward"
            raise InputError(
                f"{name} must be a number in [{low}, {high}]; given {value!r}. Declare another range with loss_range=(low, high)."
            )
        value = float(value)
        return (value - low) / (high - low) if reward is None else (high - value) / (high - low)
