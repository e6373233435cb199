"""A policy that learns a stream: the one that plays, or a candidate beside it."""

import json
from functools import lru_cache

import numpy as np

from ...errors import FileError, InputError
from ...files.policy_file import DAMAGE, pack, unpack
from ...policy import Policy
from ...policy.decision import Decision
from ...policy.learner import Memo
from ...policy.loss_range import LossScale
from ...policy.renaming import rename_texts
from .candidate_bets import CandidateBets, Conditions
from .forgetting import renaming
from .kinds import INEXACT, Plain, make_policy
from .rows import DecisionRow, Entry, RowKind
from .sampling import places_of

TALLIES = ("updates", "weight", "value", "value_squared", "reward", "reward_squared", "product")


First = tuple[list[str], Plain]
NO_FIRST: First = ([], {})


@lru_cache(1000)
def first_facts(made_of: str) -> tuple[LossScale, float]:
    """Of a policy of that kind, with those arms and their features, as JSON, before it learns anything: the range of its losses, and how
    many microseconds a decision takes."""
    policy = make_policy(*json.loads(made_of))
    return policy.loss_scale, policy.learner.microseconds


class PolicyReplica:
    """A policy as it is after `at` rows of the stream. Its state is a function of those rows alone.

    What cannot be learned, e.g. a context that does not fit those before it, is passed over and counted: every fold passes over the same.

    `tallies` value a policy on updates that another one played, each before it learns it: with w = its own probability of the arm over the
    propensity, sums of 1, w, w r, (w r)^2, r, r^2, w r r, r being the reward. They are over all updates that it has read. `bets` are what
    intervals are made of: over decisions since it was added and since what plays began to play (`CandidateBets`).
    """

    def __init__(self, id: int, policy: Policy | None, kind: Plain, *, at: int, valued: bool, first: First = NO_FIRST) -> None:
        self.id, self.kind, self.at, self.valued = id, kind, at, valued
        self._policy, self._first = policy, first
        self.not_learned = 0
        self.why = ""  # the last update that was passed over was; no part of the state
        self.tallies = [0.0] * len(TALLIES)
        self.bets = CandidateBets(id)

    @classmethod
    def fresh(cls, id: int, kind: Plain, arms: list[str], arm_features: Plain, *, at: int, valued: bool) -> "PolicyReplica":
        """One that has learned nothing; InputError where there is no such kind."""
        return cls(id, make_policy(kind, arms, arm_features), kind, at=at, valued=valued)

    @classmethod
    def idle(cls, id: int, kind: Plain, arms: list[str], arm_features: Plain, *, at: int) -> "PolicyReplica":
        """The same, of a kind that is known to be one, and made when it is needed."""
        return cls(id, None, kind, at=at, valued=False, first=(list(arms), arm_features))

    @property
    def policy(self) -> Policy:
        """What learns and decides: made when it is first asked for, so that policies that nobody uses take no memory."""
        if self._policy is None:
            self._policy = make_policy(self.kind, *self._first)
        return self._policy

    @property
    def type(self) -> str:
        """The name of the kind that it is of."""
        return str(self.kind.get("kind", "HSB")) if self._policy is None else type(self._policy).__name__

    @property
    def scale(self) -> LossScale:
        """The range of its losses."""
        return self._first_facts[0] if self._policy is None else self._policy.loss_scale

    @property
    def microseconds(self) -> float:
        """About how long a decision takes."""
        return self._first_facts[1] if self._policy is None else self._policy.learner.microseconds

    @property
    def _first_facts(self) -> tuple[LossScale, float]:
        return first_facts(json.dumps([self.kind, *self._first]))

    @property
    def shown(self) -> Plain:
        """Its kind without what an encoding of contexts has learned: the columns alone."""
        return self.kind if "encoding" not in self.kind else self.kind | {"encoding": self.policy.learner.named_columns}

    @property
    def exact(self) -> bool:
        """Are its propensities the probabilities that it plays with?"""
        return self.type not in INEXACT

    def apply(self, entry: Entry, arms: list[str], conditions: Conditions) -> None:
        """Take in the next row of the stream; `arms` are all that there ever were, by their places."""
        row, decision = entry
        if row.kind == RowKind.UPDATE and decision is not None and row.reward is not None:
            self._learn(decision, row.reward, arms, conditions)
        elif row.kind in (RowKind.PROMOTE, RowKind.IMPORT):
            self.bets = CandidateBets(row.seq)  # it is compared with what plays from here on
        elif row.kind == RowKind.ARM and row.data is not None:
            self._change_arm(json.loads(row.data))
        self.at = row.seq

    def _learn(self, row: DecisionRow, reward: float, arms: list[str], conditions: Conditions) -> None:
        if not row.context:
            return self._pass_over("What was asked has been forgotten.")
        try:
            context, available = json.loads(row.context), [arms[place] for place in places_of(row.available)]
            update = Decision(context=context, arm=arms[row.arm], propensity=row.propensity, available=available)
        except (ValueError, IndexError) as error:
            raise FileError(f"decision {row.id} cannot be read: {error}.") from None
        if self.valued:
            self._value(row, update, reward, conditions)
        try:
            if row.learner == self.id and row.rounds >= 0:
                cells = None if row.seen is None else np.frombuffer(row.seen, dtype="<i8").astype(np.int64)
                update.memo = Memo(row.rounds, advice=row.advice_share, cells=cells)
                self.policy.learn_proposed(update, reward=reward)
            else:
                self.policy.learn(update, reward=reward)
        except InputError as error:
            self._pass_over(str(error))

    def _pass_over(self, why: str) -> None:
        self.not_learned, self.why = self.not_learned + 1, why

    def _value(self, row: DecisionRow, update: Decision, reward: float, conditions: Conditions) -> None:
        try:
            p = self.policy.probabilities(update.context, available=update.available)
        except InputError:
            return  # an arm was available that has been removed since: it would play otherwise now
        own = float(p[self.policy.arms.index(update.arm)])
        self.bets.take(row, reward, own, conditions)
        weight = own / update.propensity
        value = weight * reward
        for k, term in enumerate((1.0, weight, value, value * value, reward, reward * reward, value * reward)):
            self.tallies[k] += term

    def forget(self, secret: bytes, hashes: list[str]) -> None:
        """Know words with these hashes by other names."""
        rename_texts(self.policy, renaming(secret, hashes))

    def _change_arm(self, data: Plain) -> None:
        try:
            if "remove" in data:
                self.policy.remove_arm(data["remove"])
            elif data.get("features") is not None:
                self._add_with_features(data["add"], data["features"])
            else:
                self.policy.add_arm(data["add"])
        except InputError:
            self.not_learned += 1

    def _add_with_features(self, arm: str, features: Plain) -> None:
        try:
            self.policy.add_arm(arm, features=features)
        except InputError:
            self.policy.add_arm(arm)  # a candidate of a kind that has no use for them

    # -- as a file ------------------------------------------------------------------------------------------------------

    def about(self) -> Plain:
        """What its file does not say."""
        about = {"id": self.id, "at": self.at, "kind": self.kind, "valued": self.valued}
        return about | {"not_learned": self.not_learned, "tallies": self.tallies, "bets": self.bets.plain()}

    def packed(self) -> bytes:
        """Its policy as a file."""
        return pack(self.policy)

    @classmethod
    def revived(cls, about: Plain, body: bytes, digest: str) -> "PolicyReplica":
        """The learner that `about` and `packed` describe; FileError where the file is damaged or says something else."""
        policy = opened(body)
        if policy.digest() != digest:
            raise FileError("its digest is another one than was written beside it.")
        found = cls(about["id"], policy, about["kind"], at=about["at"], valued=about["valued"])
        found.not_learned, found.tallies = about["not_learned"], list(about["tallies"])
        if "bets" in about:  # else an earlier hsb wrote it: they begin anew, with the decisions of which the floor is known
            found.bets = CandidateBets.of(about["bets"])
        return found


def opened(body: bytes) -> Policy:
    """The policy in a file's bytes; FileError where there is none."""
    try:
        return unpack(body, {})
    except DAMAGE as error:
        raise FileError(f"not a whole hsb policy file ({error!s:.200}).") from None
