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
from .requests import Arms, played_of, read_context
from .rows import DecisionRow, Entry, RowKind
from .sampling import indices_of

TALLIES = ("updates", "weight", "value", "value_squared", "reward", "reward_squared", "product")


First = tuple[Arms, Plain]
NO_FIRST: First = ([], {})


@lru_cache(1000)
def first_facts(made_of: str) -> tuple[LossScale, float]:
    """Return the range of losses of a new policy, and the microseconds that it needs for a decision.

    `made_of` is the policy's kind, arms and arm features as JSON.
    """
    policy = make_policy(*json.loads(made_of))
    return policy.loss_scale, policy.learner.microseconds


class PolicyReplica:
    """A policy after `at` rows of the stream. Its state is a function of those rows alone.

    An update that cannot be learned, e.g. with a context unlike those before, is skipped and counted: every replay skips the same updates.

    `tallies` value a policy on updates that another policy played, each before it is learned. With the reward r, and w = its own probability
    of the arm over the propensity, they are sums of 1, w, w r, (w r)^2, r, r^2, w r r over all updates that it has read. `bets` yield the
    intervals. They cover decisions since it was added and since the present policy began to play (`CandidateBets`).
    """

    def __init__(self, id: int, policy: Policy | None, kind: Plain, *, at: int, valued: bool, first: First = NO_FIRST) -> None:
        self.id, self.kind, self.at, self.valued = id, kind, at, valued
        self._policy, self._first = policy, first
        self.not_learned = 0
        self.why = ""  # the reason why the last update was skipped; not part of the state
        self.tallies = [0.0] * len(TALLIES)
        self.bets = CandidateBets(id)

    @classmethod
    def fresh(cls, id: int, kind: Plain, arms: Arms, arm_features: Plain, *, at: int, valued: bool) -> "PolicyReplica":
        """Make one that has learned nothing. Raises InputError if there is no such kind."""
        return cls(id, make_policy(kind, arms, arm_features), kind, at=at, valued=valued)

    @classmethod
    def idle(cls, id: int, kind: Plain, arms: Arms, arm_features: Plain, *, at: int) -> "PolicyReplica":
        """Make one whose kind is known to be valid. Its policy is made when it is first needed."""
        return cls(id, None, kind, at=at, valued=False, first=(arms, arm_features))

    @property
    def policy(self) -> Policy:
        """The policy that learns and decides. It is made on first use, so unused policies take no memory."""
        if self._policy is None:
            self._policy = make_policy(self.kind, *self._first)
        return self._policy

    @property
    def type(self) -> str:
        """The name of its kind."""
        return str(self.kind.get("kind", "HSB")) if self._policy is None else type(self._policy).__name__

    @property
    def scale(self) -> LossScale:
        """The range of its losses."""
        return self._first_facts[0] if self._policy is None else self._policy.loss_scale

    @property
    def microseconds(self) -> float:
        """The approximate time of a decision, in microseconds."""
        return self._first_facts[1] if self._policy is None else self._policy.learner.microseconds

    @property
    def _first_facts(self) -> tuple[LossScale, float]:
        return first_facts(json.dumps([self.kind, *self._first]))

    @property
    def public_kind(self) -> Plain:
        """Its kind, with the columns of an encoding alone: without the values that the encoding learned."""
        return self.kind if "encoding" not in self.kind else self.kind | {"encoding": self.policy.learner.named_columns}

    @property
    def exact(self) -> bool:
        """Whether its propensities are exact: the probabilities with which it plays."""
        return self.type not in INEXACT

    def apply(self, entry: Entry, arms: list[str], conditions: Conditions) -> None:
        """Apply the next row of the stream; `arms` are all arms ever, in order of their indices."""
        row, decision = entry
        if row.kind == RowKind.UPDATE and decision is not None and row.reward is not None:
            self._learn(decision, row.reward, arms, conditions)
        elif row.kind in (RowKind.PROMOTE, RowKind.IMPORT):
            self.bets = CandidateBets(row.seq)  # from here on it is compared with another policy
        elif row.kind == RowKind.ARM and row.data is not None:
            self._change_arm(json.loads(row.data))
        self.at = row.seq

    def _learn(self, row: DecisionRow, reward: float, arms: list[str], conditions: Conditions) -> None:
        if not row.context:
            return self._skip("The context has been forgotten.")
        try:
            context, available = read_context(row), None
            if row.played is None:
                available = [arms[index] for index in indices_of(row.available)]
            update = Decision(context=context, arm=played_of(arms, row), propensity=row.propensity, available=available)
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
            self._skip(str(error))

    def _skip(self, why: str) -> None:
        self.not_learned, self.why = self.not_learned + 1, why

    def _value(self, row: DecisionRow, update: Decision, reward: float, conditions: Conditions) -> None:
        try:
            p = self.policy.probabilities(update.context, available=update.available)
        except InputError:
            return  # an available arm has been removed since: its probabilities would now be others
        names = self.policy.arms if row.played is None else list(update.context.arms)
        index = names.index(update.arm)
        own = float(p[index])
        baseline = (row.arm if row.played is None else index) == row.baseline
        self.bets.take(row, reward, own, conditions, baseline=baseline)
        weight = own / update.propensity
        value = weight * reward
        for k, term in enumerate((1.0, weight, value, value * value, reward, reward * reward, value * reward)):
            self.tallies[k] += term

    def forget(self, secret: bytes, hashes: list[str]) -> None:
        """Rename words with these hashes, so that they are forgotten."""
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
            self.policy.add_arm(arm)  # this kind has no arm features

    # -- as a file ------------------------------------------------------------------------------------------------------

    def about(self) -> Plain:
        """Return what its file does not hold, as plain data."""
        about = {"id": self.id, "at": self.at, "kind": self.kind, "valued": self.valued}
        return about | {"not_learned": self.not_learned, "tallies": self.tallies, "bets": self.bets.plain()}

    def to_bytes(self) -> bytes:
        """Return its policy as the bytes of a file."""
        return pack(self.policy)

    @classmethod
    def restore(cls, about: Plain, body: bytes, digest: str) -> "PolicyReplica":
        """Restore a learner from `about` and `to_bytes`. Raises FileError if the file is damaged or does not match."""
        policy = read_policy(body)
        if policy.digest() != digest:
            raise FileError("its digest differs from the one stored with it.")
        replica = cls(about["id"], policy, about["kind"], at=about["at"], valued=about["valued"])
        replica.not_learned, replica.tallies = about["not_learned"], list(about["tallies"])
        if "bets" in about:  # otherwise an earlier hsb wrote it: bets restart with the decisions whose floor is known
            replica.bets = CandidateBets.of(about["bets"])
        return replica


def read_policy(body: bytes) -> Policy:
    """Read the policy from the bytes of a file. Raises FileError if they are no whole policy file."""
    try:
        return unpack(body, {})
    except DAMAGE as error:
        raise FileError(f"not a whole hsb policy file ({error!s:.200}).") from None
