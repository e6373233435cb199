"""A coba learner: `coba.Experiment(environments, [CobaLearner(policy)]).run()`. Nothing of coba is imported."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from ..checks import is_number
from ..errors import InputError, quoted
from ..features.request import Request
from ..policy import Policy
from ..policy.decision import Decision
from . import features as named
from .player import Maker, Player, Read

ROUNDING = 1e-4  # CorralLearner keeps its probabilities to four digits, and reports some above 1


class CobaLearner:
    """A policy as a coba learner.

    - `policy`: a policy, of which each learner plays a copy; or a function of the arms that makes one, `lambda arms: hsb.Exp3(arms=arms)`,
      called with the actions of the first round. Experiments in several processes need a function that can be pickled.
    - `features`: the order of features, for contexts that are dicts; features left out of a dict are 0, others are not looked at.
      Contexts that are numbers, lists or None go to the policy as they are.
    - `name`: the family in coba's results; by default the policy's class.

    A round offers the actions it lists; a new action is added as an arm, if the policy can add arms. Actions that are lists
    or dicts become tuples, (name, value) pairs in order for a dict. Rewards must lie in the policy's `loss_range`.

    For a policy with `arms=hsb.Open()` the actions of each round are its arms, and lists or dicts are their features: a list has the features
    x0, x1, ... Contexts that are dicts then need no `features`.

    The decision travels through coba with its action, and comes back with the reward: that is learned, and its propensity used, in batches
    too. If coba reports another action or probability (a logged interaction, or CorralLearner playing something else), the reward is
    learned with the probability reported. All arms then count as available, unless the decision lists them; with `hsb.Open()` those of the
    decision, or without a decision the action alone. Without a probability it raises
    `InputError`; a probability rounded to just above 1 counts as 1. Note that coba's experiments log errors and continue without the run.

    >>> import hsb
    >>> learner = CobaLearner(hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b", "c"], horizon=1000, seed=0))
    >>> action, probability, kept = learner.predict(0.3, ["a", "c"])
    >>> probability
    0.5
    >>> learner.learn(0.3, action, 1.0, probability, **kept)
    >>> learner.learn(0.3, "b", 0.0, 0.2)  # a logged round
    >>> learner.policy.rounds
    2
    """

    def __init__(self, policy: Policy | Maker, *, features: Iterable[Any] | None = None, name: str | None = None) -> None:
        self._player = Player(policy)
        self._features = named.names(features)
        self._name = name

    @property
    def policy(self) -> Policy:
        """The policy in its present state."""
        return self._player.policy

    @property
    def params(self) -> dict[str, Any]:
        """The description of the learner in coba's results, a dict."""
        source = self._player.source
        if not isinstance(source, Policy):
            return {"family": self._name or "hsb"}
        return {"family": self._name or type(source).__name__, "policy": repr(source)}

    def predict(self, context: Any, actions: Any) -> tuple[Any, float, dict[str, Any]]:
        """Choose one of `actions`: the triple (action, its probability, {"decision": the decision}). coba hands the last back to `learn`."""
        available = _available(context, actions)
        decision = self._player.decide(context, list(available), self._reader(available))
        return available[decision.arm], decision.propensity, {"decision": decision}

    def score(self, context: Any, actions: Any, action: Any) -> float:
        """The probability with which an action would be chosen now. Draws nothing; new actions are added as by `predict`.

        >>> import hsb
        >>> CobaLearner(hsb.Uniform(arms=3)).score(None, [0, 2], 2)
        0.5
        """
        by_arm = _available(context, actions)
        arm, available = arm_of(action), list(by_arm)
        if arm not in available:
            raise InputError(f"The action must be among those available, {quoted(available)}; given {quoted(action)}.")
        read = self._reader(by_arm)
        policy = self._player.meet(available, context, read)
        context = read(policy, context)
        if policy.learner.takes_requests:
            return float(policy.probabilities(context)[available.index(arm)])
        return float(policy.probabilities(context, available=available)[policy.arms.index(arm)])

    def learn(self, context: Any, action: Any, reward: Any, probability: Any, *, decision: Decision | None = None) -> None:
        """Learn the reward of an action, played with `probability`; `decision` is what `predict` gave, None for a logged round."""
        _one_round(context, action, reward, probability)
        arm = arm_of(action)
        if decision is not None and not isinstance(decision, Decision):
            raise InputError(f"decision must be the one that predict gave; given {quoted(decision)}.")
        if decision is None or decision.arm != arm or decision.propensity != probability:
            if probability is None:
                message = (
                    f"given None for {quoted(action)}. Log it: coba.LoggedInteraction(context, action, reward, probability)."
                )
                raise InputError(f"Learning from a logged action needs the probability with which it was played; {message}")
            if is_number(probability) and 1.0 < probability <= 1.0 + ROUNDING:
                probability = 1.0
            available = None if decision is None else decision.available
            if decision is not None and self.policy.learner.takes_requests:
                taken = decision.context
            else:
                taken = self._reader({arm: action})(self.policy, context)
            decision = Decision(context=taken, arm=arm, propensity=probability, available=available)
        self.policy.learn(decision, reward=reward)

    def _reader(self, available: Mapping[Hashable, Any]) -> Read:
        """A function of a policy and coba's context that returns the policy's context, for a round with these actions by arm."""

        def read(policy: Policy, context: Any) -> Any:
            if not policy.learner.takes_requests:
                return self._context(context)
            if context is None or (isinstance(context, Mapping) and self._features is None):
                context = dict(context or {})
            return Request(self._context(context) if self._features else context, features_of(available))

        return read

    def _context(self, context: Any) -> Any:
        if not isinstance(context, Mapping):
            return context
        if self._features is None:
            fix = "Give the adapter features=[...], the names in the order that the policy expects."
            raise InputError(f"The context is a dict, whose features have no order: {quoted(dict(context))}. {fix}")
        return named.row(context, self._features, absent=0.0)


def arm_of(action: Any) -> Hashable:
    """An action as an arm: itself, unless it is a list or a dict.

    >>> arm_of("a"), arm_of([1, 0]), arm_of({"y": 2, "x": 1})
    ('a', (1, 0), (('x', 1), ('y', 2)))
    """
    if isinstance(action, Mapping):
        return tuple((name, arm_of(action[name])) for name in sorted(action, key=repr))
    if isinstance(action, list | tuple):
        return tuple(arm_of(part) for part in action)
    arm: Hashable = action
    return arm


def features_of(available: Mapping[Hashable, Any]) -> dict[Hashable, dict[str, Any] | None]:
    """The features of actions by arm: those of a dict or a list; None for an action that is a name or a number.

    >>> features_of({"a": "a", (0.5, 2): [0.5, 2], (("price", 9),): {"price": 9}})
    {'a': None, (0.5, 2): {'x0': 0.5, 'x1': 2}, (('price', 9),): {'price': 9}}
    """
    features: dict[Hashable, dict[str, Any] | None] = {}
    for arm, action in available.items():
        if isinstance(action, list | tuple):
            action = {f"x{j}": value for j, value in enumerate(action)}
        features[arm] = {str(name): value for name, value in action.items()} if isinstance(action, Mapping) else None
    return features


def _available(context: Any, actions: Any) -> dict[Hashable, Any]:
    """Each arm, and the action it stands for."""
    _one_round(context, actions)
    if not isinstance(actions, list | tuple) or not actions:
        raise InputError(f"A policy chooses among arms: coba must list the actions of the round; given {quoted(actions)}.")
    return {arm_of(action): action for action in actions}


def _one_round(*given: Any) -> None:
    """Refuse a whole batch before anything is changed: coba then hands its rounds over one at a time."""
    if any(hasattr(value, "is_batch") for value in given):
        raise InputError("One round at a time here; given a batch. coba's evaluators split it.")
