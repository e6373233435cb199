"""A policy's state at one version, to be packed elsewhere while the policy goes on."""

import hashlib
import json
from typing import NamedTuple

from ...files.policy_file import pack
from ...policy import Policy
from .arithmetic import arithmetic
from .rows import SnapshotRow


class Frozen(NamedTuple):
    """All that a snapshot says, not packed yet: packing a tree of 10^5 nodes takes tens of milliseconds, copying it a few."""

    policy: int
    seq: int
    at: int
    state: str
    """As JSON: all that there is to say beside the learners' files."""
    learners: tuple[tuple[int, Policy], ...]

    def rows(self) -> tuple[SnapshotRow, ...]:
        """A row for each learner; may be called in any thread, if the learners are copies."""
        return tuple(self._row(name, policy) for name, policy in self.learners)

    def _row(self, name: int, policy: Policy) -> SnapshotRow:
        body = pack(policy)
        seal = hashlib.blake2b(self.state.encode() + body, digest_size=16).hexdigest()
        about = json.dumps({"seal": seal, "arithmetic": arithmetic(), "state": self.state})
        return SnapshotRow(self.policy, self.seq, name, policy.digest(), about, body, self.at)
