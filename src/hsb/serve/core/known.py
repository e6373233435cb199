"""Arms that a policy knows whose arms come with each request: how many, and those that were played most."""

from typing import NamedTuple

import numpy as np

from ...learners.open_arms import OpenArms
from .policy_state import Served

SHOWN = 20  # arms that are listed


class KnownArm(NamedTuple):
    """An arm that has a model of its own: how often it was played and learned, and its average reward then."""

    arm: str
    plays: int
    average_reward: float | None
    """None if the range of rewards is inferred: losses of different times are then in different units."""


class KnownArms(NamedTuple):
    """The number of arms that have a model of their own, and those of them that were played most."""

    number: int
    most_played: list[KnownArm]


def known_arms(served: Served, most: int = SHOWN) -> KnownArms | None:
    """Return the arms that the policy that plays knows; None if it has a fixed list of arms."""
    if served.open is None:
        return None  # without making its policy
    learner = served.live.policy.learner
    if not isinstance(learner, OpenArms):
        return None
    known, rules = learner.models.known, served.rules
    count = len(known.names)
    plays, losses = known.totals[:count].T
    shown = []
    for index in np.argsort(-plays, kind="stable")[:most].tolist():
        loss = float(losses[index] / plays[index]) if plays[index] else None
        reward = (
            None if loss is None or rules.low is None or rules.high is None else rules.high - loss * (rules.high - rules.low)
        )
        shown.append(KnownArm(str(known.names[index]), int(plays[index]), reward))
    return KnownArms(count, shown)
