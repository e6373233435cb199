"""What every policy is: it decides, learns from late or logged feedback, and its arms may come and go."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import floor_share, generator, is_number, shown
from ..errors import InputError, quoted
from ..types import Arms, Arrays, Floats, Ints, Masks, Outside, Range, Seed
from .arms import EVERYTHING, Offer
from .decision import Decision, no_decision
from .ledger import Ledger
from .loss_range import UNIT, LossScale
from .propose import Journalled
from .rows import distribution_of, rows_of


class Policy(Journalled):
    """The interface that all policies share. `hsb.HSB` explains `arms`, `loss_range`, `reward_range`, `outside`, `floor` and `seed`.

    A policy of your own defines `distribution` and `update`, and works wherever policies do: simulate, compare, replay, `hsb run`. It is
    copied with all its attributes. Where it defines `settings` too, `save` writes them and its public NumPy arrays. In the example
    `floor=0.1` makes a tenth of its play uniform.

    >>> import hsb, numpy as np
    >>> class Greedy(hsb.Policy):
    ...     def __init__(self, *, arms, **common):
    ...         super().__init__(arms=arms, **common)
    ...         self.lost, self.plays = np.zeros(len(self.arms)), np.ones(len(self.arms))
    ...     def distribution(self, context):
    ...         return 1.0 * (np.arange(len(self.arms)) == np.argmin(self.lost / self.plays))
    ...     def update(self, context, index, loss, propensity):
    ...         self.lost[index] += loss
    ...         self.plays[index] += 1
    >>> hsb.simulate(Greedy(arms=2, floor=0.1, seed=0), np.zeros(1000), np.tile([1.0, 0.0], (1000, 1))).average_loss < 0.1
    True
    """

    kinds: ClassVar[dict[str, type[Policy]]] = {}  # filled as classes are defined; `hsb.load` looks here

    guarantee: ClassVar[str] = "none"
    """What is proved of it, in one sentence."""
    asked_again: ClassVar[tuple[str, ...]] = ()
    """What a file cannot hold and `hsb.load` must be given."""
    found_out: ClassVar[tuple[str, ...]] = ()  # which of the settings change as it learns

    def __init_subclass__(cls, *, listed: bool = True) -> None:
        super().__init_subclass__()
        if listed and Policy.kinds.get(cls.__name__, cls).__module__ == cls.__module__:  # a user's Uniform is not hsb's
            Policy.kinds[cls.__name__] = cls

    def __init__(
        self,
        *,
        arms: Arms,
        loss_range: Range = UNIT,
        reward_range: Range | None = None,
        outside: Outside = "error",
        floor: float = 0.0,
        seed: Seed = None,
    ) -> None:
        self.offer = Offer(arms)
        self.arms = self.offer.arms
        self.loss_scale = LossScale(loss_range, reward_range, outside)
        self.floor = self.even = floor_share(floor)
        self.rounds = 0  # rounds learned from
        self.clipped = 0  # contexts that lay outside the space and were clipped
        self.version = 0  # changes whenever a decision could turn out otherwise
        self.rng = generator(seed)
        self.ledger = Ledger()
        self._watch()

    def decide(self, context: Any = None, *, available: Iterable[Hashable] | None = None, u: float | None = None) -> Decision:
        """Choose an arm for a context. Returns the `Decision`, from which `learn` learns later. Nothing is learned yet.

        A policy that looks at no contexts, e.g. `hsb.Exp3`, needs none.

        `available` lists the arms to choose among; None stands for all `active_arms`. `u`, a number in [0, 1), is what decides; None draws it
        from the policy's random numbers. The same state, context and `u` give the same decision. What cannot be used raises `InputError`.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b", "c"], learning_rate=0.1)
        >>> policy.decide(0.5, available=["c"]).propensity
        1.0
        """
        guard = self.guard
        ~guard  # noqa: B018
        try:
            if self._open is not None:
                self._settle()
            offered = self.offer.now if available is None else self.offer.mask(available)
            if u is not None:
                _check_u(u)
            self._locate(context, count=True)
            index, propensity = self._floored(offered, self.rng.random() if u is None else float(u))
            if type(context) is not float and isinstance(context, list | dict | np.ndarray):
                context = context.copy()  # the caller may use it again
            names = None if offered is EVERYTHING else self.offer.names(offered)
            decision = Decision.made(self, context, self.arms[index], propensity, names, self.ledger)
            decision.advised, decision.seen = self._advice_on(index), self._saw()
            return decision
        finally:
            guard.release()

    def choose(self, context: Any = None, *, u: float, available: Iterable[Hashable] | None = None) -> tuple[Hashable, float]:
        """The pair (arm, propensity) that `decide` would give for this `u`, a number in [0, 1). Nothing is drawn, numbered or counted.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b", "c"], learning_rate=0.1)
        >>> policy.choose(0.5, u=0.9, available=["a", "b"])
        ('b', 0.5)
        """
        offered = self.offer.now if available is None else self.offer.mask(available)
        _check_u(u)
        self._locate(context, count=False)
        index, propensity = self._floored(offered, float(u))
        return self.arms[index], propensity

    def learn(self, decision: Decision, *, loss: float | None = None, reward: float | None = None) -> None:
        """Learn the loss (or the reward) of a decision: one that this policy made, now or long ago, or one from a log.

        Give either `loss` or `reward`, a number in `loss_range`. `InputError` is raised, and nothing is learned, where the number lies outside
        (unless the policy was made with `outside="clip"`), and where the decision was learned before.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=2, learning_rate=0.1)
        >>> policy.learn(hsb.Decision(context=0.2, arm=1, propensity=0.4), reward=1.0)
        """
        guard = self.guard
        ~guard  # noqa: B018
        try:
            if self._open is not None:
                self._settle()
            if type(loss) is float and reward is None and self.loss_scale.direct and 0.0 <= loss <= 1.0:
                value, rewarded = loss, False
            else:
                value, rewarded = self.loss_scale.given(loss, reward)
            offered, index, own = self._checked(decision)
            self._learn(decision, offered, index, own, value, rewarded)
        finally:
            guard.release()

    def _checked(self, decision: Any) -> tuple[Masks, int, bool]:
        """What a decision offered, the number of its arm, and whether it is the policy's own; InputError where it cannot be learned."""
        if not isinstance(decision, Decision):
            raise no_decision(decision)
        try:
            index = self.offer.index[decision.arm]
        except (KeyError, TypeError):
            index = self.offer.number(decision.arm)  # says what is wrong
        propensity = decision.propensity
        if not (type(propensity) is float or is_number(propensity)) or not 0.0 < propensity <= 1.0:
            raise InputError(
                f"propensity must be in (0, 1], the probability with which the arm was played; given {quoted(propensity)}."
            )
        own = self.ledger.check(decision)
        offered = EVERYTHING
        if decision.available is not None:
            offered = self.offer.mask(decision.available, past=True)
        elif own and 0 < decision.offered < len(self.arms):  # an arm added since was not among them
            offered = self.offer.first(decision.offered)
        if offered is not EVERYTHING and not offered[index]:
            raise InputError(f"Arm {quoted(decision.arm)} was not among the available {shown(decision.available or ())}.")
        return offered, index, own

    def _learn(self, decision: Decision, offered: Masks, index: int, own: bool, value: float, rewarded: bool) -> None:
        """Learn what `_checked` and `LossScale.given` found of a decision and its feedback."""
        try:
            self._locate_decision(decision, own)
            scale, after = self.loss_scale, None
            if rewarded or not scale.direct:
                after = scale.copy()
                value = after.take(value, rewarded)
            if own:
                self._recall(decision)
            if self._marks:
                self._done = []
            self._open = self.rounds, decision, own, after
            self._update(offered, index, value, float(decision.propensity))
            if self._marks and not self._done:  # a policy whose own `_update` does not say
                self._done.append(0)
            self.rounds += 1  # from here on as `_tally`, which does it again if this is interrupted
            self.version += 1
            if after is not None:
                self.loss_scale = after
            self.ledger.close(decision, self.rounds, own=own)
            if self.rounds >= self._due:
                self._catch_up()
            self._open = None
        except BaseException:
            self._settle() if self._open is not None else self._forget()
            raise

    def probabilities(self, context: Any = None, *, available: Iterable[Hashable] | None = None) -> Floats:
        """The probability of each arm for a context: an array in the order of `arms`, 0 where one is not `available`. Changes nothing.

        >>> import hsb
        >>> hsb.HSB(hsb.BinaryTree(depth=4), arms=4, learning_rate=0.1).probabilities(0.3, available=[0, 2])
        array([0.5, 0. , 0.5, 0. ])
        """
        offered = self.offer.now if available is None else self.offer.mask(available)
        self._locate(context, count=False)
        p = np.empty(len(self.arms))
        self._fill(offered, p)
        return self._raised(p, offered)

    def add_arm(self, arm: Hashable, *, features: Any = None) -> None:
        """Add an arm while running, or bring a removed one back.

        Where a policy keeps weights over its M arms, the new arm gets the share 1/(M+1) and the others are scaled by M/(M+1). A rate that
        came from `horizon` is set anew for M+1 arms, though never raised; one given as `learning_rate` stays.

        `features`, a dict, say what the arm is like: only an HSB without a structure, `hsb.HSB(arms=...)`, makes use of them.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b", "c"], learning_rate=0.1)
        >>> policy.add_arm("d")
        >>> policy.probabilities(0.3)
        array([0.25, 0.25, 0.25, 0.25])
        """
        if features is not None:
            raise InputError(
                f"{type(self).__name__} makes no use of features of arms; given {quoted(features)} for arm {quoted(arm)}. Leave "
                "them out, or use hsb.HSB(arms=...) without a structure."
            )
        self._take_arm(arm)

    def _take_arm(self, arm: Hashable, **more: Any) -> None:
        """Add an arm, in one step."""
        offer = self.offer.copy()
        if offer.is_back(arm):
            self._offer(offer)
        else:
            twin = self._twin()
            twin._widen()
            twin.offer.add(arm)
            twin._refresh()
            twin._added(**more)
            self._take_over(twin)

    def _added(self) -> None:
        """The last arm is new: what is known of it."""

    def remove_arm(self, arm: Hashable) -> None:
        """Never offer an arm again, until it is added back. What was learned of it is kept.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b", "c"], learning_rate=0.1)
        >>> policy.remove_arm("b")
        >>> policy.active_arms, policy.probabilities(0.3)
        (['a', 'c'], array([0.5, 0. , 0.5]))
        """
        offer = self.offer.copy()
        offer.remove(arm)
        self._offer(offer)

    @property
    def active_arms(self) -> list[Hashable]:
        """The arms that are offered by default: all but those removed."""
        return self.offer.active

    def regret_bound(self, horizon: float | None = None) -> float:
        """A bound on the expected regret over `horizon` rounds; infinite where nothing is proved. None: the `horizon` it was made for.

        In units of the width of `loss_range`. Where that is "auto", each loss is measured by the range of its round (`docs/proofs.md`, 7). A
        policy that has a bound but was made without a `horizon` needs one here: else `InputError`.

        >>> import hsb
        >>> hsb.Uniform(arms=3).regret_bound(1000)
        inf
        """
        return math.inf

    @property
    def nbytes(self) -> int:
        """Memory that the state takes, in bytes."""
        return sum(array.nbytes for array in self.to_arrays().values())

    def __repr__(self) -> str:
        inside = [f"{name}={value!r}" for name, value in (self._shown() | self.loss_scale.shown()).items()]
        return f"{type(self).__name__}({', '.join([*inside, f'arms={shown(self.arms)}', f'rounds={self.rounds}'])})"

    # -- a policy of your own fills in two ---------------------------------------------------------------------------

    def distribution(self, context: Any) -> ArrayLike:
        """A number of at least 0 for each arm, in the order of `arms`: probabilities, which are scaled to the sum 1 over the arms offered."""
        raise InputError(
            f"{type(self).__name__} must say what it plays: define distribution(self, context), a number for each arm."
        )

    def update(self, context: Any, index: int, loss: float, propensity: float) -> None:
        """Learn that `arms[index]`, played with the probability `propensity`, had this `loss`, which comes scaled to [0, 1]."""
        raise InputError(
            f"{type(self).__name__} must say how it learns: define update(self, context, index, loss, propensity)."
        )

    def settings(self) -> dict[str, Any]:
        """A dict of the constructor's arguments other than arms, loss_range, outside, floor and seed, as plain data: what a file needs."""
        raise InputError(
            f"{type(self).__name__} cannot be written to a file: it does not say its settings. Define settings(self), a dict of the "
            "constructor's arguments beside arms, loss_range, outside, floor and seed."
        )

    # -- and may fill in, to be faster or more exact -----------------------------------------------------------------

    def _locate(self, context: Any, *, count: bool) -> None:
        """Check a context and keep what the next call of `_choose`, `_fill` or `_update` needs; count it in `clipped` if clipped."""
        self._context = context

    def _locate_row(self, row: Any) -> None:
        """`_locate` for a row of a table that `check` gave."""
        self._locate(row, count=False)

    def _choose(self, offered: Masks, u: float) -> tuple[int, float]:
        """The arm for the located context and its propensity; `offered` is empty where every arm is. Changes nothing."""
        p = np.empty(len(self.arms))
        self._fill(offered, p)
        index = min(int(np.searchsorted(np.cumsum(p), u * p.sum(), side="right")), len(p) - 1)
        index = index if p[index] > 0.0 else int(np.argmax(p))
        return index, min(float(p[index]), 1.0)

    def _fill(self, offered: Masks, p: Floats) -> None:
        """The distribution over arms for the located context, into p. Changes nothing."""
        p[:] = distribution_of(self.distribution(self._context), len(p), f"{type(self).__name__}.distribution")
        if len(offered):
            p *= offered
            if not p.any():
                p[:] = offered
        p /= p.sum()

    def _update(self, offered: Masks, index: int, loss: float, propensity: float) -> None:
        """Learn the scaled loss of an arm at the located context. `rounds` counts it only afterwards."""
        self._commit(self.update, self._context, index, loss, propensity)

    def check(self, contexts: ArrayLike) -> tuple[NDArray[Any], int]:
        """A whole table of contexts, checked, one row each, and how many were clipped."""
        n = rows_of(contexts)
        if isinstance(contexts, np.ndarray):
            return contexts, 0
        table = np.empty(n, dtype=object)
        for t, context in enumerate(contexts):  # type: ignore[arg-type]
            table[t] = context
        return table, 0

    def _advice_on(self, index: int) -> float:
        """How much of the advice in the last round decided was on the arm with that number; -1 where there is no advisor."""
        return -1.0

    def _saw(self) -> Ints | None:
        """What a decision must keep of how its context was seen, where that changes."""
        return None

    def _locate_decision(self, decision: Decision, own: bool) -> None:
        """`_locate` for a decision that is learned, as it was seen then if it is the policy's own."""
        self._locate(decision.context, count=not own)

    def _recall(self, decision: Decision) -> None:
        """The next `_update` is for this decision of its own, made now or long ago."""

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        """A fresh policy; `common` holds arms, loss_range and seed."""
        return cls(**settings, **common)

    def to_arrays(self) -> Arrays:
        """All that it learned, by name."""
        return {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray) and name[0] != "_"}

    def take_arrays(self, arrays: Arrays) -> None:
        """Take over what `to_arrays` gave, in a fresh policy; ValueError where it does not fit."""
        for name, fresh in self.to_arrays().items():
            given = arrays[name]
            if given.shape != fresh.shape or given.dtype != fresh.dtype:
                raise ValueError(f"its {name} does not fit its settings")
            if given.dtype.kind == "f" and not np.isfinite(given).all():
                raise ValueError("its state holds numbers that are not finite")
            fresh[...] = given

    def _widen(self) -> None:
        """Make room for one more arm; `arms` does not have it yet."""
        raise InputError(f"{type(self).__name__} cannot take another arm while running. Make a new one with all the arms.")

    def _shown(self) -> dict[str, Any]:
        """What `repr` says of it."""
        return {} if type(self).settings is Policy.settings else self.settings()

    def _refresh(self) -> None:
        """Scratch and look-up tables, after the arms or the arrays changed."""
        self.version += 1


def _check_u(u: Any) -> None:
    if not (is_number(u) and 0.0 <= u < 1.0):
        raise InputError(f"u must be in [0, 1), a number; given {quoted(u)}.")
