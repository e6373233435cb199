"""HSB, Algorithm 1: one round at a time."""

from __future__ import annotations

import copy
import math
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import theory
from .arguments import arm_list, generator, is_hashable, is_number, loss_bounds, shown, stop_prior
from .decision import Decision
from .errors import InputError
from .ledger import Ledger
from .members import Member, add_arm, duplicate, in_use, room
from .spaces import numbers
from .structures import Structure

if TYPE_CHECKING:
    from .explain import Explanation

Floats = NDArray[np.float64]
Masks = NDArray[np.uint8]


_NOWHERE = object()  # no context is this object


class HSB:
    """Hierarchical Structure based Bandits: the mixture of every mapping that the structure can express, exactly (Algorithm 1).

    - `arms`: a number, or the arms themselves (any hashables).
    - `horizon`: the number of rounds to come, if known: Corollary 1's constant rate, for an optimal partition into `regions` regions
      (by default as many as arms). Or `learning_rate` itself. With neither, the rate falls as sqrt(A / (M t)) (anytime).
    - `stop`: a tree's prior probability of stopping at a node; the paper's is one half. 0 gives S-EXP3.
    - `loss_range`: losses (and rewards) lie in it; they are scaled to [0, 1].
    - `seed`: an int, a `numpy.random.Generator`, or None. Same seed, same run.

    >>> import hsb
    >>> policy = hsb.HSB(hsb.BinaryTree(depth=10), arms=3, horizon=1000, seed=0)
    >>> decision = policy.decide(0.37)
    >>> policy.learn(decision, loss=1.0)
    >>> policy.probabilities(0.37).sum().round(12)
    np.float64(1.0)
    """

    def __init__(
        self,
        structure: Structure,
        *,
        arms: int | Iterable[Hashable],
        horizon: float | None = None,
        regions: int | None = None,
        learning_rate: float | None = None,
        stop: float | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
        seed: int | np.random.Generator | None = None,
    ) -> None:
        if not isinstance(structure, Structure):
            raise InputError(f"HSB needs a structure, e.g. hsb.BinaryTree(depth=10); given {structure!r}.")
        self.structure = structure
        self.arms = arm_list(arms)
        self.learning_rate = theory.constant_rate(structure, len(self.arms), horizon, regions, learning_rate)
        self.horizon = None if horizon is None else float(horizon)
        self.regions = None if regions is None else int(regions)
        self.stop = stop_prior(stop)
        self.loss_range = loss_bounds(loss_range)
        self.rounds = 0  # rounds learned from
        self.clipped = 0  # contexts that lay outside the space and were clipped
        self._rng = generator(seed)
        self._ledger = Ledger()
        self._removed: set[Hashable] = set()
        self._set_members(structure.members(len(self.arms), self.stop))
        self._refresh()

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
        index, propensity = self._kernels.decide(self._Fs, self._Is, self._keys, self._counts, offered, self._p, u)
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

        Learning twice from one decision is refused. The rate is that of the round in which the feedback comes.

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
        rate = self.learning_rate if self.learning_rate is not None else float(self._anytime(self.rounds + 1.0))
        x = rate * scaled / float(propensity)
        while not self._kernels.update(self._Fs, self._Is, self._keys, 0, self._counts, offered, self._p, index, x, False):
            self._set_members([room(member) for member in self._members])
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
        self._kernels.probabilities(self._Fs, self._Is, self._keys, self._counts, offered, p)
        return p

    # -- arms --------------------------------------------------------------------------------------------------------

    def add_arm(self, arm: Hashable) -> None:
        """Add an arm while running: in every node it gets the share 1/(M+1), the others are scaled by M/(M+1).

        A rate that came from `horizon` is set anew for M+1 arms; one given as `learning_rate` stays.

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
        self._set_members([add_arm(member) for member in self._members])
        self.arms.append(arm)
        if self.horizon is not None:
            self.learning_rate = theory.constant_rate(self.structure, len(self.arms), self.horizon, self.regions, None)
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

    def explain(self) -> Explanation:
        """The most probable mapping: regions, their arms, how sure. Data that prints as rules and can be drawn (`.plot()`).

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b"], learning_rate=1.0)
        >>> for context, bad in ((0.2, "a"), (0.7, "b")):
        ...     policy.learn(hsb.Decision(context=context, arm=bad, propensity=0.05), loss=1.0)
        >>> print(policy.explain())
        0 <= x < 0.5: play 'b' (sure 1.00)
        0.5 <= x <= 1: play 'a' (sure 1.00)
        """
        from .explain import explain

        return explain(self.structure, self._members, self.arms, self.stop)

    def copy(self) -> HSB:
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
        twin._set_members([duplicate(member) for member in self._members])
        twin._refresh()
        return twin

    def save(self, path: str | Path) -> None:
        """Write the policy to a file: versioned, no code inside, written whole or not at all. `hsb.load` reads it back.

        Arms must be None, booleans, numbers, strings or tuples of these.
        """
        from .storage import save

        save(self, path)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_kernels", "_find", "_located")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._ledger = self._ledger.fork(self.rounds)
        self._set_members(self._members)
        self._refresh()

    @property
    def nbytes(self) -> int:
        """Memory that the state takes, rows not yet used apart."""
        return sum(in_use(member) for member in self._members)

    def __repr__(self) -> str:
        return f"HSB({self.structure!r}, arms={shown(self.arms)}, learning_rate={self.learning_rate!r}, rounds={self.rounds})"

    # -- inside ------------------------------------------------------------------------------------------------------

    def _set_members(self, members: list[Member]) -> None:
        from .kernels import keys, rounds

        self._kernels, self._find = rounds, keys.locate
        self._members = members
        self._Fs = tuple(member.F for member in members)
        self._Is = tuple(member.I for member in members)

    def _refresh(self) -> None:
        """Scratch and look-up tables, after the arms or the arrays changed."""
        self._index = {arm: i for i, arm in enumerate(self.arms)}
        self._p = np.empty(len(self.arms))
        self._counts = np.zeros(len(self._members), dtype=np.int64)
        self._keys = tuple(np.zeros((1, words), dtype=np.int64) for words in self.structure.key_words())
        self._codes = self.structure.codes()
        self._point = np.zeros((1, self.structure.space.features))
        self._located: Any = _NOWHERE
        self._everything = np.zeros(0, dtype=np.uint8)
        self._all = self._everything
        if self._removed:
            self._all = np.array([arm not in self._removed for arm in self.arms], dtype=np.uint8)
        self._version = getattr(self, "_version", 0) + 1
        arms = len(self.arms)
        regions = arms if self.regions is None else self.regions
        self._cost = theory.prior_bound(self.structure, arms=arms, regions=regions) / arms

    def _locate(self, context: Any, *, count: bool) -> None:
        """Put the context's keys where the kernels read them; a number just located is there already."""
        if context is self._located:
            return
        self._located = _NOWHERE
        space, structure = self.structure.space, self.structure
        if space.features == 1:
            if is_number(context):
                try:
                    point = space.unit_point(float(context))
                except OverflowError:
                    point = math.nan
                keys = structure.scalar_keys(point) if point == point else None
                if keys is not None:
                    for k in range(len(keys)):
                        self._keys[k][0, 0] = keys[k]
                    self._located = context
                    return
        elif self._several(context):
            return
        row = numbers("Contexts", context)
        points, clipped = space.check(row.reshape(1, -1) if row.ndim <= 1 else row)
        if len(points) != 1:
            raise InputError(f"One context at a time here; given {len(points)}. hsb.simulate takes whole tables.")
        if count:
            self.clipped += clipped
        self._keys = tuple(structure.keys(points))

    def _several(self, context: Any) -> bool:
        """The quick way for several features; False where the slow one is needed, to clip or to explain what is wrong."""
        point = self._point
        if isinstance(context, np.ndarray):
            if context.shape != (point.shape[1],) or context.dtype.kind not in "iuf":
                return False
        elif not isinstance(context, list | tuple) or len(context) != point.shape[1] or not all(map(is_number, context)):
            return False
        try:
            point[0] = context
        except OverflowError:
            return False
        ends = self.structure.space.ends()
        return all(self._find(code, *ends, point, key) for code, key in zip(self._codes, self._keys, strict=True))

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

    def _anytime(self, t: Any) -> Any:
        """The rate of round t, or of an array of rounds: sqrt(A / (M t)), with A of Theorem 2."""
        return np.sqrt(self._cost / t)

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
                f"{name} must be a number in [{low}, {high}]; given {value!r}. Declare another range with HSB(..., loss_range=(low, high))."
            )
        value = float(value)
        return (value - low) / (high - low) if reward is None else (high - value) / (high - low)
