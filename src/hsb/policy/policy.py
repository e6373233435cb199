"""`Policy`, the class behind all policies: it decides, learns from late or logged feedback, and its arms may come and go."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from ..checks import check_u, floor_share, format_arms, generator, whole
from ..errors import InputError, quoted
from ..features.request import Request, RequestArms
from ..types import Arms, Arrays, Available, Bounds, Floats, Outside, Range, Seed
from . import copying, lock, notebook_table, propose, requests, slots, tables
from .arms import ArmSet
from .checking import check_also, check_arm_features, check_decision, check_learner
from .custom import CustomLearner
from .decision import Decision
from .decisions import Decisions
from .floor import distribution, draw
from .learner import Learner, Memo
from .ledger import Ledger
from .loss_range import UNIT, LossScale
from .slate import Slate
from .transaction import Pending, learn_round, learn_rounds, replace, settle

MUTABLE = (list, dict, np.ndarray)  # contexts that a caller may change
_tuple = tuple.__new__  # makes a NamedTuple in half the time


class Policy:
    """The interface that all policies share. `hsb.HSB` explains `arms`, `loss_range`, `reward_range`, `outside`, `floor` and `seed`.

    A policy has a `learner`, the algorithm (`hsb.policy.learner`). The policy itself keeps what all algorithms share: the arms, the range of
    losses, the floor, the random numbers, and the ledger of decisions learned.

    To write a policy, subclass `Policy` and define `distribution` and `update`. The subclass works wherever policies do: `simulate`,
    `compare`, `replay`, `hsb run`. A copy has all its attributes. If it defines `settings` too, `save` writes the settings and the public
    NumPy arrays. In the example `floor=0.1` makes a tenth of all decisions uniform.

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
    """The theorem about its regret, in one sentence."""
    load_arguments: ClassVar[tuple[str, ...]] = ()
    """Arguments that a file cannot hold, so that `hsb.load` needs them again."""

    lock: Any
    """A reentrant lock, which every public method holds."""

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
        self.learner: Learner = CustomLearner(self) if learner is None else check_learner(learner)
        self.rounds = self.learner.rounds  # updates learned
        self.clipped = 0  # contexts outside the space, which were clipped
        self.pending: Pending | None = None  # a change that an interrupt may have cut short (`transaction`)
        lock.watch(self)

    @property
    def arms(self) -> list[Hashable]:
        """All arms in order, including those removed."""
        return self.arm_set.arms

    @property
    def active_arms(self) -> list[Hashable]:
        """The arms available by default: all except those removed."""
        return self.arm_set.active

    @property
    def loss_range(self) -> Bounds:
        """The pair (lowest, highest) of losses: as declared; with "auto", as inferred so far, NaN before the first loss.

        >>> import hsb
        >>> hsb.Uniform(arms=2, reward_range=(0, 100)).loss_range
        (0.0, 100.0)
        """
        return self.loss_scale.low, self.loss_scale.high

    @property
    def reward_range(self) -> Bounds:
        """The pair (lowest, highest) of rewards: that of losses; with "auto", the range of the negated losses so far.

        >>> import hsb
        >>> hsb.Uniform(arms=2, reward_range=(0, 100)).reward_range
        (0.0, 100.0)
        """
        return self.loss_scale.rewards

    @property
    def clipped_losses(self) -> int:
        """The number of losses and rewards outside their range that were clipped.

        >>> import hsb
        >>> hsb.Exp3(arms=2, outside="clip").clipped_losses
        0
        """
        return self.loss_scale.clipped

    @property
    def nbytes(self) -> int:
        """The size of the state in memory, in bytes."""
        with self.lock:
            settle(self)
            return self.learner.nbytes

    def regret_bound(self, horizon: float | None = None) -> float:
        """Return an upper bound on the expected regret over `horizon` rounds; infinite if nothing is proved.

        `horizon` defaults to the policy's own; `InputError` if it has a bound but no horizon. The unit is the width of `loss_range`. If that
        is "auto", each loss is measured by the range of its round (`docs/proofs.md`, 7).

        >>> import hsb
        >>> hsb.Uniform(arms=3).regret_bound(1000)
        inf
        """
        return math.inf

    def settings(self) -> dict[str, Any]:
        """Return the constructor's arguments, other than arms, loss_range, outside, floor and seed, as plain data for a file."""
        return self.learner.settings()

    def __repr__(self) -> str:
        settings = self.learner.repr_settings() | self.loss_scale.repr_settings()
        arguments = [f"{name}={value!r}" for name, value in settings.items()]
        return f"{type(self).__name__}({', '.join([*arguments, f'arms={format_arms(self.arms)}', f'rounds={self.rounds}'])})"

    def _repr_html_(self) -> str:
        with self.lock:
            settle(self)
            return notebook_table.html(self)

    @overload
    def decide(
        self, context: Any = None, *, k: None = None, arms: Any = None, available: Any = None, u: Any = None
    ) -> Decision: ...
    @overload
    def decide(self, context: Any = None, *, k: int, arms: Any = None, available: Any = None, u: Any = None) -> Slate: ...
    def decide(
        self,
        context: Any = None,
        *,
        k: int | None = None,
        arms: RequestArms | None = None,
        available: Available = None,
        u: float | None = None,
    ) -> Decision | Slate:
        """Choose an arm for a context and return the `Decision`. Nothing is learned until `learn` gets that decision and its outcome.

        With `k`, choose the arms of a page of k slots, one after the other without replacement, and return the `Slate` of k decisions.

        `available` lists the arms to choose among; default: all `active_arms`. A policy with `arms=hsb.Open()` needs `arms` instead: a dict
        from each available arm to its features. `u` is the uniform sample in [0, 1) that picks the arm; default: drawn from the policy's random
        numbers. A policy that ignores contexts, e.g. `hsb.Exp3`, needs no `context`. The same state, context and `u` give the same decision.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b", "c"], learning_rate=0.1)
        >>> policy.decide(0.5, available=["c"]).propensity
        1.0
        >>> [round(propensity, 3) for propensity in policy.decide(0.5, k=2).propensities]
        [0.333, 0.5]
        """
        with self.lock:
            if self.pending is not None:
                settle(self)
            if k is not None or arms is not None or type(context) is Request:
                return slots.decide(self, requests.of(self, context, arms), k, available, u)
            arm_set, learner = self.arm_set, self.learner
            mask = arm_set.default_mask if available is None else arm_set.mask(available)
            if u is not None:
                check_u(u)
            view, clipped = learner.read(context)
            if clipped:
                self.clipped += clipped
            u = self.rng.random() if u is None else float(u)
            if self.floor == 0.0 and learner.uniform_share == 0.0:
                arm, probability, advice = learner.choose(view, mask, u)
            else:
                arm, probability, advice = draw(self, view, mask, u)
            if type(context) is not float and isinstance(context, MUTABLE):
                context = context.copy()  # the caller may change it later
            names, cells = arm_set.arms, learner.cells(view) if learner.keeps_cells else None
            memo = _tuple(Memo, (self.rounds, len(names), advice, cells, 0))
            self.ledger.feedback.decisions[names[arm]] += 1
            return Decision.issue(self, context, names[arm], probability, None if mask is None else arm_set.names(mask), memo)

    def choose(
        self, context: Any = None, *, u: float, arms: RequestArms | None = None, available: Available = None
    ) -> tuple[Hashable, float]:
        """Return the pair (arm, propensity) that `decide` would give for this `u`, a number in [0, 1). Changes nothing.

        >>> import hsb
        >>> hsb.Exp3(arms=["a", "b", "c"]).choose(u=0.9, available=["a", "b"])
        ('b', 0.5)
        """
        with self.lock:
            settle(self)
            check_u(u)
            view, mask, names = requests.read(self, requests.of(self, context, arms), available)
            arm, probability, _ = draw(self, view, mask, float(u))
            return names[arm], probability

    def probabilities(
        self, context: Any = None, *, arms: RequestArms | None = None, available: Available = None, slot: int = 0
    ) -> Floats:
        """Return the probability of each arm for a context, an array in the order of `arms`; 0 for an arm that is not `available`.

        For a table (data frame, two-dimensional array, list of dicts) return an array with a row for each of its rows. `slot` is the place on
        a page, for a policy with `slots`; `available` must leave out the arms of the slots before. Changes nothing.

        >>> import hsb
        >>> hsb.HSB(arms=["a", "b"]).probabilities([{"age": 31}, {"age": 40, "country": "FR"}]).tolist()
        [[0.5, 0.5], [0.5, 0.5]]
        """
        with self.lock:
            settle(self)
            if tables.is_table(context) and not self.learner.any_context:
                return tables.table_probabilities(self, context, available)
            view, mask, _ = requests.read(self, requests.of(self, context, arms), available, whole("slot", slot, 0))
            return distribution(self, view, mask)

    def learn(
        self,
        decision: Decision | Slate,
        *,
        loss: float | None = None,
        reward: float | None = None,
        losses: Iterable[float | None] | None = None,
        rewards: Iterable[float | None] | None = None,
        also: Mapping[Hashable, float] | None = None,
    ) -> None:
        """Learn the loss (or the reward) of a decision: one that this policy made, now or long ago, or one from a log.

        Give either `loss` or `reward`, a number in `loss_range`. Raises `InputError`, and learns nothing, if the number lies outside
        (unless the policy has `outside="clip"`), or if the decision was learned before.

        A `Slate` takes `losses` or `rewards`, one for each slot, None without feedback; or one `loss` or `reward` for the page, learned in each
        slot as its own (`docs/recipes/several-slots.md`). The whole page is checked first. An interrupt leaves its first slots learned.

        `also`: losses (or rewards) of other available arms that are known, e.g. {"b": 0}. Only models learn them, so the proof is untouched.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=2, learning_rate=0.1)
        >>> policy.learn(hsb.Decision(context=0.2, arm=1, propensity=0.4), reward=1.0)
        """
        with self.lock:
            if self.pending is not None:
                settle(self)
            if type(decision) is Slate or losses is not None or rewards is not None:
                feedback = {"loss": loss, "reward": reward, "losses": losses, "rewards": rewards, "also": also}
                learn_rounds(self, slots.check_page(self, decision, feedback))
                return
            value, is_reward = self.loss_scale.check_feedback(loss, reward)
            mask, arm, own = check_decision(self, decision)
            others = None if also is None else check_also(self, decision, mask, arm, also, is_reward)
            learn_round(self, decision, mask, arm, own, value, is_reward, others)
            if self.learner.counts_feedback:
                self.ledger.feedback.add(decision, mask, arm, own, self.arm_set.arms)

    def decide_many(
        self,
        contexts: ArrayLike | Iterable[Any],
        *,
        available: ArrayLike | Iterable[Iterable[Hashable] | None] | None = None,
        u: ArrayLike | None = None,
    ) -> Decisions:
        """Choose an arm for each row of a table of contexts, in the present state: the `Decisions` that `decide` would make row by row.

        `available` has for each row the arms to choose among, None for all; or it is a table of booleans, a column for each arm. `u` has a
        number in [0, 1) for each row. The whole table is checked before the first decision is made.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b", "c"], seed=0)
        >>> decisions = policy.decide_many([0.1, 0.5, 0.9], available=[["a", "b"], None, ["c"]])
        >>> policy.learn_many(decisions, rewards=[1.0, None, 0.0], missing="skip"), policy.rounds
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
        """Learn the losses (or the rewards) of several decisions in order, as `learn` would one by one; return the number of rows learned.

        If a row cannot be learned, no row is, and the `InputError` names the row. A row whose feedback is None or NaN cannot be learned;
        `missing="skip"` leaves it out for later. After an interrupt (Ctrl-C) the first rows are learned, and `rounds` counts them.

        >>> import hsb
        >>> policy = hsb.Exp3(arms=2, learning_rate=0.1, seed=0)
        >>> policy.learn_many(policy.decide_many([None] * 3), losses=[0.0, 1.0, 0.5])
        3
        """
        with self.lock:
            settle(self)
            checked = tables.check_many(self, decisions, losses, rewards, missing)
            learn_rounds(self, checked)
            return len(checked)

    def propose(
        self,
        context: Any,
        *,
        u: float,
        available: Iterable[Hashable] | None = None,
        mixed: Callable[[Floats], Floats] | None = None,
    ) -> Decision:
        """Return the decision that `decide` would make for this `u`, but without an `id`. Changes nothing.

        For callers that keep a journal of decisions themselves. `learn_proposed` learns the decision, here or in a policy in the same state
        elsewhere; there the decision needs its attribute `memo` too. `mixed` is a function from the policy's distribution over `arms` to the
        one to draw from, e.g. with a share for a baseline. `u` and `available` as in `decide`.

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
        """Return what `propose` would, bit for bit, for each context and its `u`; None for a context for which it would raise `InputError`.

        `mixed` as in `propose`; it may get a table of distributions, a row for each context, and must treat all rows alike.

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

        The policy does not check that it was not learned before: the caller's journal must. A decision with an `id` raises `InputError`.

        >>> import hsb
        >>> policy = hsb.HSB(arms=["a", "b"])
        >>> policy.learn_proposed(policy.propose({"age": 31}, u=0.4), reward=1.0)
        >>> policy.rounds, policy.ledger.issued
        (1, 0)
        """
        with self.lock:
            settle(self)
            value, is_reward = self.loss_scale.check_feedback(loss, reward)
            mask, arm, _ = check_decision(self, decision)
            if decision.number is not None:
                raise InputError(f"learn_proposed needs a decision without a number; given {quoted(decision)}. Use learn.")
            learn_round(self, decision, mask, arm, True, value, is_reward)

    def add_arm(self, arm: Hashable, *, features: Any = None) -> None:
        """Add an arm while running, or bring a removed one back.

        If a policy keeps weights over its M arms, the new arm gets the share 1/(M+1) and the others are scaled by M/(M+1). A rate computed
        from `horizon` is computed again for M+1 arms, but never rises; a `learning_rate` stays.

        `features`: a dict that describes the arm. Only an HSB without a structure, `hsb.HSB(arms=...)`, learns from it.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b", "c"], learning_rate=0.1)
        >>> policy.add_arm("d")
        >>> policy.probabilities(0.3)
        array([0.25, 0.25, 0.25, 0.25])
        """
        with self.lock:
            settle(self)
            check_arm_features(self, arm, features)
            if self.arm_set.check_new(arm):
                replace(self, arm_set=self.arm_set.with_arm(arm), learner=self.learner.with_arm(arm, features))
            else:
                index, same = self.arm_set.number(arm), self.learner
                learner = same if features is None else same.describe_arm(index, arm, features)
                replace(self, arm_set=self.arm_set.restored(arm), learner=learner)

    def remove_arm(self, arm: Hashable) -> None:
        """Make an arm unavailable until `add_arm` brings it back. The policy keeps what it has learned about the arm.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b", "c"], learning_rate=0.1)
        >>> policy.remove_arm("b")
        >>> policy.active_arms, policy.probabilities(0.3)
        (['a', 'c'], array([0.5, 0. , 0.5]))
        """
        with self.lock:
            settle(self)
            replace(self, arm_set=self.arm_set.without(arm))

    def copy(self, *, seed: Seed = None) -> Self:
        """Return an independent policy in the same state. `seed` seeds its random numbers; by default they are copied too.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=2, learning_rate=0.1, seed=0)
        >>> policy.copy().decide(0.3).arm == policy.decide(0.3).arm
        True
        """
        with self.lock:
            settle(self)
            return copying.copy(self, seed)

    def save(self, path: str | Path) -> None:
        """Write the policy to a file, wholly or not at all. The file is versioned and holds no code; `hsb.load` reads it.

        Arms must be None, booleans, numbers, strings or tuples of these; otherwise raises `InputError` and writes nothing.

        >>> import hsb, pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     hsb.Exp3(arms=["a", "b"]).save(pathlib.Path(folder) / "policy.hsb")
        ...     hsb.load(pathlib.Path(folder) / "policy.hsb").arms
        ['a', 'b']
        """
        from ..files.policy_file import save

        save(self, path)

    def digest(self) -> str:
        """Return a fingerprint of 64 hexadecimal digits: equal if class, settings, arms and learned state are equal.

        Two policies with the same digest play the same arm for the same context and `u`. The digest leaves out random numbers, the ledger of
        decisions and the counts of clipped values. It needs arms and settings that `save` could write.

        >>> import hsb
        >>> policy = hsb.Exp3(arms=2, seed=0)
        >>> policy.copy(seed=7).digest() == policy.digest()
        True
        """
        with self.lock:
            settle(self)
            return copying.digest(self)

    def to_arrays(self) -> Arrays:
        """Return the learned state, arrays by name."""
        with self.lock:
            settle(self)
            return self.learner.to_arrays()

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        """Make a fresh policy from the dict that `settings` returned; `common` holds arms, loss_range, floor and seed."""
        return cls(**settings, **common)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            settle(self)
            return copying.to_pickle(self)

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        copying.from_pickle(self, state)
