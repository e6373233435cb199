"""A policy's state at one version, to be packed in another thread while the policy learns."""

import hashlib
import json
from typing import NamedTuple

from ...files.policy_file import pack
from ...policy import Policy
from .arithmetic import arithmetic
from .rows import SnapshotRow


class Frozen(NamedTuple):
    """The content of a snapshot, not packed yet: packing a tree of 10^5 nodes takes tens of milliseconds, copying it a few."""

    policy: int
    seq: int
    at: int
    state: str
    """Everything except the learners' files, as JSON."""
    learners: tuple[tuple[int, Policy], ...]

    def rows(self) -> tuple[SnapshotRow, ...]:
        """Pack a row for each learner. If the learners are copies, any thread may call it."""
        return tuple(self._row(name, policy) for name, policy in self.learners)

    def _row(self, name: int, policy: Policy) -> SnapshotRow:
        body = pack(policy)
        seal = hashlib.blake2b(self.state.encode() + body, digest_size=16).hexdigest()
        about = json.dumps({"seal": seal, "arithmetic": arithmetic(), "state": self.state})
        return SnapshotRow(self.policy, self.seq, name, policy.digest(), about, body, self.at)
