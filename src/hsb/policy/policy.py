"""What every policy is: it decides, learns from late or logged feedback, and its arms may come and go."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from ..checks import check_u, floor_share, generator, shown
from ..errors import InputError, quoted
from ..types import Arms, Arrays, Bounds, Floats, Masks, Outside, Range, Seed
from . import copying, described, lock, propose, tables
from .arms import ArmSet
from .checking import check_decision, check_learner
from .decision import Decision
from .decisions import Decisions
from .floor import distribution, draw
from .learner import Learner, Memo
from .ledger import Ledger
from .loss_range import UNIT, LossScale
from .own import Own
from .transaction import Pending, Rounds, replace, settle

MUTABLE = (list, dict, np.ndarray)  # contexts that a caller may change
_tuple = tuple.__new__  # makes a NamedTuple in half the time: once in each decide and learn


class Policy:
    """The interface that all policies share. `hsb.HSB` explains `arms`, `loss_range`, `reward_range`, `outside`, `floor` and `seed`.

    A policy has a `learner`, the algorithm (`hsb.policy.learner`); the policy itself keeps what is the same for all: the arms, the range of
    losses, the floor, random numbers, and which decisions were learned.

    A policy of your own defines `distribution` and `update`, and works wherever policies do: simulate, compare, replay, `hsb run`. It is
    copied with all its attributes. If it defines `settings` too, `save` writes them and its public NumPy arrays. In the example
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

    lock: Any
    """Reentrant; every public method holds it."""

    def __init_subclass__(cls, *, listed: bool = True) -> None:
        super().__init_subclass__()
        if listed and Policy.kinds.get(cls.__name__, cls).__module__ == cls.__module__:  # a user's Uniform is not hsb's
            Policy.kinds[cls.__name__] = cls

    def __init__(
        self,
        *,
        arms: Arms | ArmSet,
        learner: Learner | None = None,
        loss_range: Range = UNIT,
        reward_range: Range | None = None,
        outside: Outside = "error",
        floor: float = 0.0,
        seed: Seed = None,
    ) -> None:
        self.arm_set = arms if isinstance(arms, ArmSet) else ArmSet(arms)
        self.loss_scale = LossScale(loss_range, reward_range, outside)
        self.floor = floor_share(floor)
        self.rng = generator(seed)
        self.ledger = Ledger()
        self.learner: Learner = Own(self) if learner is None else check_learner(learner)
        self.rounds = self.learner.seen  # learned from
        self.clipped = 0  # contexts that lay outside the space and were clipped
        self.pending: Pending | None = None  # what an interrupt may have cut short (`transaction`)
        lock.watch(self)

    # -- what it is ----------------------------------------------------------------------------------------------------

    @property
    def arms(self) -> list[Hashable]:
        """All arms, in order, those removed among them."""
        return self.arm_set.arms

    @property
    def active_arms(self) -> list[Hashable]:
        """The arms that are available by default: all but those removed."""
        return self.arm_set.active

    @property
    def loss_range(self) -> Bounds:
        """The pair (least, most) that a loss may be: as declared; or, if that was "auto", as found so far, NaN before the first loss.

        >>> import hsb
        >>> policy = hsb.Exp3(arms=2, loss_range="auto", seed=0)
        >>> for loss in (20.0, 50.0):
        ...     policy.learn(policy.decide(None), loss=loss)
        >>> policy.loss_range
        (20.0, 50.0)
        """
        return self.loss_scale.low, self.loss_scale.high

    @property
    def reward_range(self) -> Bounds:
        """The pair (least, most) that a reward may be: that of losses; with "auto" the range of the negatives of the losses found so far.

        >>> import hsb
        >>> hsb.Uniform(arms=2, reward_range=(0, 100)).reward_range
        (0.0, 100.0)
        """
        return self.loss_scale.rewards

    @property
    def clipped_losses(self) -> int:
        """How many of the losses and rewards learned lay outside their range and were clipped.

        >>> import hsb
        >>> policy = hsb.Exp3(arms=2, reward_range=(0, 100), outside="clip", seed=0)
        >>> policy.learn(policy.decide(None), reward=150.0)
        >>> policy.clipped_losses
        1
        """
        return self.loss_scale.clipped

    @property
    def nbytes(self) -> int:
        """Memory that the state takes, in bytes."""
        with self.lock:
            settle(self)
            return self.learner.nbytes

    def regret_bound(self, horizon: float | None = None) -> float:
        """A bound on the expected regret over `horizon` rounds; infinite if nothing is proved. None: the `horizon` it was made for.

        In units of the width of `loss_range`. If that is "auto", each loss is measured by the range of its round (`docs/proofs.md`, 7). A
        policy that has a bound but was made without a `horizon` needs one here: else `InputError`.

        >>> import hsb
        >>> hsb.Uniform(arms=3).regret_bound(1000)
        inf
        """
        return math.inf

    def settings(self) -> dict[str, Any]:
        """A dict of the constructor's arguments other than arms, loss_range, outside, floor and seed, as plain data: what a file needs."""
        return self.learner.settings()

    def __repr__(self) -> str:
        inside = [f"{name}={value!r}" for name, value in (self.learner.shown() | self.loss_scale.shown()).items()]
        return f"{type(self).__name__}({', '.join([*inside, f'arms={shown(self.arms)}', f'rounds={self.rounds}'])})"

    def _repr_html_(self) -> str:
        with self.lock:
            settle(self)
            return described.html(self)

    # -- a round -------------------------------------------------------------------------------------------------------

    def decide(self, context: Any = None, *, available: Iterable[Hashable] | None = None, u: float | None = None) -> Decision:
        """Choose an arm for a context. Returns the `Decision`, from which `learn` learns later. Nothing is learned yet.

        A policy that looks at no contexts, e.g. `hsb.Exp3`, needs none. `available` lists the arms to choose among; None stands for all
        `active_arms`. `u`, a number in [0, 1), is the uniform sample that picks the arm; None draws it from the policy's random numbers.
        The same state, context and `u` give the same decision. What cannot be used raises `InputError`.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b", "c"], learning_rate=0.1)
        >>> policy.decide(0.5, available=["c"]).propensity
        1.0
        """
        with self.lock:
            if self.pending is not None:
                settle(self)
            arm_set, learner = self.arm_set, self.learner
            mask = arm_set.default_mask if available is None else arm_set.mask(available)
            if u is not None:
                check_u(u)
            seen, clipped = learner.read(context)
            if clipped:
                self.clipped += clipped
            u = self.rng.random() if u is None else float(u)
            if self.floor == 0.0 and learner.uniform_share == 0.0:
                arm, probability, advice = learner.choose(seen, mask, u)
            else:
                arm, probability, advice = draw(self, seen, mask, u)
            if type(context) is not float and isinstance(context, MUTABLE):
                context = context.copy()  # the caller may use it again
            arms, cells = arm_set.arms, learner.cells(seen) if learner.keeps_cells else None
            memo = _tuple(Memo, (self.rounds, len(arms), advice, cells))
            self.ledger.feedback.decisions[arms[arm]] += 1
            return Decision.made(self, context, arms[arm], probability, None if mask is None else arm_set.names(mask), memo)

    def choose(self, context: Any = None, *, u: float, available: Iterable[Hashable] | None = None) -> tuple[Hashable, float]:
        """The pair (arm, propensity) that `decide` would give for this `u`, a number in [0, 1). Nothing is drawn, numbered or counted.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b", "c"], learning_rate=0.1)
        >>> policy.choose(0.5, u=0.9, available=["a", "b"])
        ('b', 0.5)
        """
        with self.lock:
            settle(self)
            mask = self.arm_set.mask(available)
            check_u(u)
            arm, probability, _ = draw(self, self.learner.read(context)[0], mask, float(u))
            return self.arms[arm], probability

    def probabilities(self, context: Any = None, *, available: Iterable[Hashable] | None = None) -> Floats:
        """The probability of each arm for a context: an array in the order of `arms`, 0 where one is not `available`. Changes nothing.

        Of a table, a data frame, an array with rows or a list of dicts: an array with a row for each of its rows.

        >>> import hsb
        >>> hsb.HSB(hsb.BinaryTree(depth=4), arms=4, learning_rate=0.1).probabilities(0.3, available=[0, 2])
        array([0.5, 0. , 0.5, 0. ])
        >>> hsb.HSB(arms=["a", "b"]).probabilities([{"age": 31}, {"age": 40, "country": "FR"}]).tolist()
        [[0.5, 0.5], [0.5, 0.5]]
        """
        with self.lock:
            settle(self)
            if tables.is_table(context) and not self.learner.any_context:
                return tables.table_probabilities(self, context, available)
            mask = self.arm_set.mask(available)
            return distribution(self, self.learner.read(context)[0], mask)

    def learn(self, decision: Decision, *, loss: float | None = None, reward: float | None = None) -> None:
        """Learn the loss (or the reward) of a decision: one that this policy made, now or long ago, or one from a log.

        Give either `loss` or `reward`, a number in `loss_range`. `InputError` is raised, and nothing is learned, if the number lies outside
        (unless the policy was made with `outside="clip"`), or if the decision was learned before.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=2, learning_rate=0.1)
        >>> policy.learn(hsb.Decision(context=0.2, arm=1, propensity=0.4), reward=1.0)
        """
        with self.lock:
            if self.pending is not None:
                settle(self)
            value, rewarded = self.loss_scale.given(loss, reward)
            mask, arm, own = check_decision(self, decision)
            self._learn(decision, mask, arm, own, value, rewarded)
            self.ledger.feedback.learned(decision, mask, arm, own, self.arm_set.arms)

    def _learn(self, decision: Decision, mask: Masks | None, arm: int, own: bool, value: float, rewarded: bool) -> None:
        """Learn a decision that `check_decision` found fit, and its feedback."""
        learner, memo, scale = self.learner, decision.memo if own else None, self.loss_scale
        seen, clipped = learner.recall(decision.context, memo)
        if clipped and not own:
            self.clipped += clipped
        loss, after = (value, None) if scale.direct and not rewarded else scale.scaled(value, rewarded)
        try:
            self.pending = pending = _tuple(Rounds, (self.rounds, seen, decision, own, after))
            grown = learner.learn(seen, mask, arm, loss, float(decision.propensity), memo)
            if grown is not None:
                self.learner = grown
            pending.finish(self, pending.begun + 1)
            self.pending = None
        except BaseException:
            settle(self)
            raise

    # -- many rounds ---------------------------------------------------------------------------------------------------

    def decide_many(
        self,
        contexts: ArrayLike | Iterable[Any],
        *,
        available: ArrayLike | Iterable[Iterable[Hashable] | None] | None = None,
        u: ArrayLike | None = None,
    ) -> Decisions:
        """Choose an arm for each context of a table, with what is known now: the `Decisions` that `decide` would make one after the other.

        `available` has an entry for each row, the arms to choose among, or None for all; or it is a table of booleans, a column for each arm.
        `u` has a number in [0, 1) for each row; None draws them. The whole table is checked before the first decision is made.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b", "c"], seed=0)
        >>> made = policy.decide_many([0.1, 0.5, 0.9], available=[["a", "b"], None, ["c"]])
        >>> policy.learn_many(made, rewards=[1.0, None, 0.0], missing="skip"), policy.rounds
        (2, 2)
        """
        with self.lock:
            settle(self)
            return tables.decide_many(self, contexts, available, u)

    def learn_many(
        self,
        decisions: Iterable[Decision],
        *,
        losses: ArrayLike | Iterable[Any] | None = None,
        rewards: ArrayLike | Iterable[Any] | None = None,
        missing: Literal["error", "skip"] = "error",
    ) -> int:
        """Learn the losses (or the rewards) of several decisions in their order, as `learn` would one after the other.

        Returns the number of rows learned. All or nothing: if a row cannot be learned, none is, and the `InputError` says which. A row
        without feedback, None or NaN, is such a row; with `missing="skip"` it is left out, and its decision can be learned later. If it is
        interrupted (Ctrl-C), it has learned the first rows, and `rounds` counts them.

        >>> import hsb
        >>> policy = hsb.Exp3(arms=2, learning_rate=0.1, seed=0)
        >>> policy.learn_many(policy.decide_many([None] * 3), losses=[0.0, 1.0, 0.5])
        3
        """
        with self.lock:
            settle(self)
            checked = tables.check_many(self, decisions, losses, rewards, missing)
            for decision, mask, arm, own, *feedback in checked:
                self._learn(decision, mask, arm, own, *feedback)
                self.ledger.feedback.learned(decision, mask, arm, own, self.arm_set.arms)
            return len(checked)

    # -- for those who keep a journal of decisions themselves ----------------------------------------------------------

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
        the same state elsewhere, to which its attribute `memo` must be handed over too. `available` as in `decide`.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b"], learning_rate=0.1)
        >>> policy.propose(0.5, u=0.7, mixed=lambda p: 0.5 * p + [0.5, 0.0])
        Decision(context=0.5, arm='a', propensity=0.75)
        """
        with self.lock:
            settle(self)
            return propose.propose(self, context, u, available, mixed)

    def propose_many(
        self, contexts: Iterable[Any], *, u: ArrayLike, mixed: Callable[[Floats], Floats] | None = None
    ) -> list[Decision | None]:
        """The decisions that `propose` would make for each of a list of contexts and its `u`, bit for bit; None if it would refuse one.

        `mixed` as in `propose`; it may be given a table of distributions, a row for each context, and must treat each row alike.

        >>> import hsb
        >>> policy = hsb.HSB(arms=["a", "b"])
        >>> policy.propose_many([{"age": 31}, {"age": [31]}], u=[0.2, 0.7])
        [Decision(context={'age': 31}, arm='a', propensity=0.5), None]
        """
        with self.lock:
            settle(self)
            return propose.propose_many(self, contexts, u, mixed)

    def learn_proposed(self, decision: Decision, *, loss: float | None = None, reward: float | None = None) -> None:
        """Learn the `loss` (or the `reward`) of a decision that `propose` made, as `learn` learns one that `decide` made.

        Nothing here tells whether it was learned before: that is for the journal to know. A decision with an `id` raises `InputError`.

        >>> import hsb
        >>> policy = hsb.HSB(arms=["a", "b"])
        >>> policy.learn_proposed(policy.propose({"age": 31}, u=0.4), reward=1.0)
        >>> policy.rounds, policy.ledger.issued
        (1, 0)
        """
        with self.lock:
            settle(self)
            value, rewarded = self.loss_scale.given(loss, reward)
            mask, arm, _ = check_decision(self, decision)
            if decision.number is not None:
                raise InputError(f"learn_proposed needs a decision without a number; given {quoted(decision)}. Use learn.")
            self._learn(decision, mask, arm, True, value, rewarded)

    # -- arms ----------------------------------------------------------------------------------------------------------

    def add_arm(self, arm: Hashable, *, features: Any = None) -> None:
        """Add an arm while running, or bring a removed one back.

        If a policy keeps weights over its M arms, the new arm gets the share 1/(M+1) and the others are scaled by M/(M+1). A rate that
        came from `horizon` is set anew for M+1 arms, though never raised; one given as `learning_rate` stays.

        `features`, a dict, say what the arm is like: only an HSB without a structure, `hsb.HSB(arms=...)`, makes use of them.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b", "c"], learning_rate=0.1)
        >>> policy.add_arm("d")
        >>> policy.probabilities(0.3)
        array([0.25, 0.25, 0.25, 0.25])
        """
        with self.lock:
            settle(self)
            if features is not None and not self.learner.takes_arm_features:
                given = f"given {quoted(features)} for arm {quoted(arm)}"
                advice = "Leave them out, or use hsb.HSB(arms=...) without a structure."
                raise InputError(f"{type(self).__name__} makes no use of features of arms; {given}. {advice}")
            if self.arm_set.check_new(arm):
                replace(self, arm_set=self.arm_set.with_arm(arm), learner=self.learner.with_arm(arm, features))
            elif features is None:
                replace(self, arm_set=self.arm_set.restored(arm))
            else:
                described = self.learner.describe_arm(self.arm_set.number(arm), arm, features)
                replace(self, arm_set=self.arm_set.restored(arm), learner=described)

    def remove_arm(self, arm: Hashable) -> None:
        """Make an arm unavailable until it is added back. What was learned of it is kept.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b", "c"], learning_rate=0.1)
        >>> policy.remove_arm("b")
        >>> policy.active_arms, policy.probabilities(0.3)
        (['a', 'c'], array([0.5, 0. , 0.5]))
        """
        with self.lock:
            settle(self)
            replace(self, arm_set=self.arm_set.without(arm))

    # -- copies and files ----------------------------------------------------------------------------------------------

    def copy(self, *, seed: Seed = None) -> Self:
        """An independent policy in the same state. `seed` gives it random numbers of its own; None copies these too.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=2, learning_rate=0.1, seed=0)
        >>> policy.copy().decide(0.3).arm == policy.decide(0.3).arm
        True
        """
        with self.lock:
            settle(self)
            return copying.copy(self, seed)

    def save(self, path: str | Path) -> None:
        """Write the policy to a file: versioned, no code inside, written whole or not at all. `hsb.load` reads it back.

        Arms must be None, booleans, numbers, strings or tuples of these, else `InputError` is raised and nothing is written.

        >>> import hsb, pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     hsb.Exp3(arms=["a", "b"]).save(pathlib.Path(folder) / "policy.hsb")
        ...     hsb.load(pathlib.Path(folder) / "policy.hsb").arms
        ['a', 'b']
        """
        from ..files.policy_file import save

        save(self, path)

    def digest(self) -> str:
        """A fingerprint, 64 hexadecimal digits: equal if kind, settings, arms and all that was learned are equal, however that came about.

        Random numbers, the list of decisions made and learned, and counts of what was clipped are no part of it: two policies with the same
        digest play the same for the same context and `u`. Arms and settings must be such that the policy could be saved.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=2, learning_rate=0.1, seed=0)
        >>> before, copied = policy.digest(), policy.copy(seed=7).digest()
        >>> policy.learn(policy.decide(0.3), loss=1.0)
        >>> copied == before, policy.digest() == before
        (True, False)
        """
        with self.lock:
            settle(self)
            return copying.digest(self)

    def to_arrays(self) -> Arrays:
        """All that it learned, by name."""
        with self.lock:
            settle(self)
            return self.learner.to_arrays()

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        """A fresh policy from what `settings` returned; `common` holds arms, loss_range, floor and seed."""
        return cls(**settings, **common)

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            settle(self)
            return copying.to_pickle(self)

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        copying.from_pickle(self, state)
