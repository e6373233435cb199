"""A policy that learns a stream: the one that plays, or a candidate beside it."""

import json

import numpy as np

from ...errors import FileError, InputError
from ...files.policy_file import DAMAGE, pack, unpack
from ...policy import Policy
from ...policy.decision import Decision
from ...policy.learner import Memo
from .kinds import INEXACT, Plain, make_policy
from .rows import DecisionRow, Entry, Kind
from .sampling import places_of

TALLIES = ("lessons", "weight", "value", "value_squared", "reward", "reward_squared", "product")


class Learner:
    """A policy as it is after `at` rows of the stream. Its state is a function of those rows alone.

    What cannot be learned, e.g. a context that does not fit those before it, is passed over and counted: every fold passes over the same.

    `tallies` value a policy on lessons that another one played, each before it learns it: with w = its own probability of the arm over the
    propensity, sums of 1, w, w r, (w r)^2, r, r^2, w r r, r being the reward.
    """

    def __init__(self, id: int, policy: Policy, kind: Plain, *, at: int, valued: bool) -> None:
        self.id, self.policy, self.kind, self.at, self.valued = id, policy, kind, at, valued
        self.passed_over = 0
        self.why = ""  # the last lesson that was passed over was; no part of the state
        self.tallies = [0.0] * len(TALLIES)

    @classmethod
    def fresh(cls, id: int, kind: Plain, arms: list[str], arm_features: Plain, *, at: int, valued: bool) -> "Learner":
        """One that has learned nothing."""
        return cls(id, make_policy(kind, arms, arm_features), kind, at=at, valued=valued)

    @property
    def exact(self) -> bool:
        """Are its propensities the probabilities that it plays with?"""
        return type(self.policy).__name__ not in INEXACT

    def apply(self, entry: Entry, arms: list[str]) -> None:
        """Take in the next row of the stream; `arms` are all that there ever were, by their places."""
        row, decision = entry
        if row.kind == Kind.LESSON and decision is not None and row.reward is not None:
            self._learn(decision, row.reward, arms)
        elif row.kind == Kind.ARM and row.data is not None:
            self._change_arm(json.loads(row.data))
        self.at = row.seq

    def _learn(self, row: DecisionRow, reward: float, arms: list[str]) -> None:
        if not row.context:
            return self._pass_over("What was asked has been forgotten.")
        try:
            context, available = json.loads(row.context), [arms[place] for place in places_of(row.available)]
            lesson = Decision(context=context, arm=arms[row.arm], propensity=row.propensity, available=available)
        except (ValueError, IndexError) as error:
            raise FileError(f"decision {row.id} cannot be read: {error}.") from None
        if self.valued:
            self._value(lesson, reward)
        try:
            if row.learner == self.id and row.rounds >= 0:
                cells = None if row.seen is None else np.frombuffer(row.seen, dtype="<i8").astype(np.int64)
                lesson.memo = Memo(row.rounds, advice=row.advised, cells=cells)
                self.policy.learn_proposed(lesson, reward=reward)
            else:
                self.policy.learn(lesson, reward=reward)
        except InputError as error:
            self._pass_over(str(error))

    def _pass_over(self, why: str) -> None:
        self.passed_over, self.why = self.passed_over + 1, why

    def _value(self, lesson: Decision, reward: float) -> None:
        try:
            p = self.policy.probabilities(lesson.context, available=lesson.available)
        except InputError:
            return  # an arm was offered that has been removed since: it would play otherwise now
        weight = float(p[self.policy.arms.index(lesson.arm)]) / lesson.propensity
        value = weight * reward
        for k, term in enumerate((1.0, weight, value, value * value, reward, reward * reward, value * reward)):
            self.tallies[k] += term

    def _change_arm(self, data: Plain) -> None:
        try:
            if "remove" in data:
                self.policy.remove_arm(data["remove"])
            elif data.get("features") is not None:
                self._add_with_features(data["add"], data["features"])
            else:
                self.policy.add_arm(data["add"])
        except InputError:
            self.passed_over += 1

    def _add_with_features(self, arm: str, features: Plain) -> None:
        try:
            self.policy.add_arm(arm, features=features)
        except InputError:
            self.policy.add_arm(arm)  # a candidate of a kind that has no use for them

    # -- as a file ------------------------------------------------------------------------------------------------------

    def about(self) -> Plain:
        """What its file does not say."""
        about = {"id": self.id, "at": self.at, "kind": self.kind, "valued": self.valued}
        return about | {"passed_over": self.passed_over, "tallies": self.tallies}

    def packed(self) -> bytes:
        """Its policy as a file."""
        return pack(self.policy)

    @classmethod
    def revived(cls, about: Plain, body: bytes, digest: str) -> "Learner":
        """The learner that `about` and `packed` describe; FileError where the file is damaged or says something else."""
        policy = opened(body)
        if policy.digest() != digest:
            raise FileError("its digest is another one than was written beside it.")
        found = cls(about["id"], policy, about["kind"], at=about["at"], valued=about["valued"])
        found.passed_over, found.tallies = about["passed_over"], list(about["tallies"])
        return found


def opened(body: bytes) -> Policy:
    """The policy in a file's bytes; FileError where there is none."""
    try:
        return unpack(body, {})
    except DAMAGE as error:
        raise FileError(f"not a whole hsb policy file ({error!s:.200}).") from None
