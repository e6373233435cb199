"""`RiverPolicy`: a policy for `river.bandit.evaluate`, `evaluate_offline` or your loop. Needs river."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from river import proba, stats
from river.bandit.base import ContextualPolicy

from ..checks import whole
from ..errors import InputError, quoted
from ..policy import Policy
from . import features as named
from .player import Maker, Player
from .waiting import Waiting, key_of


class RiverPolicy(ContextualPolicy):  # type: ignore[misc]
    """A policy as a river bandit policy: `pull(arm_ids, context)`, `update(arm_id, context, reward)`.

    - `policy`: a policy, of which each RiverPolicy and each `clone()` plays a copy, random numbers included; or a function of the arms that
      makes one, called with the arms of the first pull. Arms that appear later are added, if the policy can add arms.
    - `features`: the order of the features in a context, which is a dict; others are not looked at. By default that of the first context, and
      then every context must have just those. Context-free, as in `river.bandit.evaluate`: `pull(arm_ids)`, `update(arm_id, reward)`.
    - `waiting`: the number of decisions that may wait for their reward. river's protocol carries no propensity, so each update is matched with
      the decision made for that arm and context, and learned with the propensity of that decision. By default only the last pull waits: an
      update must come before the next pull, or never, as in river's own loops. For late rewards use a larger number; then the oldest
      decision for that arm and context is matched, and beyond that number the oldest of all is forgotten.
    - `reward_obj`: river's statistic or distribution of rewards, for `ranking`; None is river's own.
    - `burn_in`: the number of initial pulls of each arm; only that arm is available in such a pull.

    An update without a pull raises `InputError`, unless it has `propensity=`, the probability with which a log played the arm. Rewards must
    lie in the policy's `loss_range`. After `river.bandit.evaluate_offline` the policy has learned what playing would have only if the log
    chose its arms uniformly.

    >>> import hsb
    >>> policy = RiverPolicy(hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b"], seed=0))
    >>> for t in range(200):
    ...     context = {"hour": t % 10 / 10}
    ...     arm = policy.pull(["a", "b"], context)
    ...     policy.update(arm, context, float(arm == ("a" if context["hour"] < 0.5 else "b")))
    >>> [policy.current.probabilities(hour).argmax().item() for hour in (0.2, 0.8)]
    [0, 1]
    """

    def __init__(
        self,
        policy: Policy | Maker,
        *,
        features: Iterable[Hashable] | None = None,
        waiting: int = 1,
        reward_obj: Any = None,
        burn_in: int = 0,
    ) -> None:
        if reward_obj is not None and not isinstance(reward_obj, stats.base.Univariate | proba.base.Distribution):
            needed = "a statistic of one number or a distribution, e.g. river.stats.Mean()"
            raise InputError(
                f"reward_obj must be {needed}: a policy learns from one number a round; given {quoted(reward_obj)}."
            )
        super().__init__(reward_obj=reward_obj, burn_in=whole("burn_in", burn_in, 0))
        self._player = Player(policy)
        self._waiting = Waiting(waiting)
        self._updates = Counter[Any]()  # by arm
        self._order = named.names(features)
        self.policy = self._player.source
        self.features = None if self._order is None else list(self._order)
        self.waiting = self._waiting.limit

    @property
    def current(self) -> Policy:
        """The policy as it is now; `policy` is the one given, unchanged, from which a clone begins."""
        return self._player.policy

    def pull(self, arm_ids: Iterable[Any], context: Mapping[Any, Any] | None = None) -> Any:
        """The arm that the policy decides for, out of `arm_ids`; the decision then waits for its `update`."""
        return self._pull(list(arm_ids), context)

    def _pull(self, arm_ids: list[Any], context: Any = None) -> Any:
        order, values = self._row(context)
        key_of(values, None)
        policy = self._player.meet(arm_ids, values)
        seldom = [arm for arm in arm_ids if self._updates[arm] < self.burn_in]
        decision = policy.decide(values, available=seldom[:1] or arm_ids)
        self._order = order
        self._waiting.add([decision])
        return next(arm for arm in arm_ids if arm == decision.arm)

    def update(self, arm_id: Any, *given: Any, propensity: float | None = None) -> None:
        """Learn a reward: `update(arm_id, context, reward)`, or `update(arm_id, reward)` without a context.

        `propensity` is for an arm that a log played: the probability with which it did. None: the pull that waits for this reward is learned;
        `InputError` if none waits.
        """
        if len(given) not in (1, 2):
            raise InputError(
                f"update needs a context and a reward, or a reward alone; given {quoted(given)} for arm {quoted(arm_id)}."
            )
        context, reward = given if len(given) == 2 else (None, given[0])
        order, values = self._row(context)
        self._waiting.learn(self.current, values, arm_id, reward, propensity)
        self._order = order
        self._updates[arm_id] += 1
        super().update(arm_id, context, reward)

    def _row(self, context: Any) -> tuple[list[Any] | None, Any]:
        """The order of features, and the context in that order."""
        if context is None:
            return self._order, None
        if not isinstance(context, Mapping):
            raise InputError(f"A context is a dict of features, or None; given {quoted(context)}.")
        order = list(context) if self._order is None else self._order
        if self.features is None and len(context) != len(order):
            message = f"{quoted(dict(context))}. Give the adapter features=[...] to look at some only"
            raise InputError(f"Every context must have the features of the first, {quoted(order)}; given {message}.")
        return order, named.row(context, order, absent=None)
