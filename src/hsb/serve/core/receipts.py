"""Receipts: proof of a decision. With a receipt, a client can send the reward of a decision that the journal has lost.

A receipt holds the decision's row, the process that made it, and a BLAKE2b of both under the policy's secret. It leaves u out, which derives
from the secret and the id. Whoever holds a receipt can read it, including the context; only the service can make one. A journal records the
processes that wrote to it and the version that each reached. So an older copy recognises receipts of versions that it has lost.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...errors import InputError, quoted
from .orders import NewDecision
from .policy_state import Served
from .requests import counts_of
from .rows import DecisionRow
from .sampling import context_json, indices_of, u_of

MARK = "hsb1."
LARGEST = 1 << 20  # characters
PERSON = b"hsb receipt"  # so that a receipt's hash never equals that of u
BYTES = ("available", "seen", "body")
NAMES = tuple(name for name in DecisionRow._fields if name != "u")


class Unreadable(InputError):
    """A text is no receipt, or one of another format, e.g. of another version of hsb."""


class Processes(NamedTuple):
    """The processes that wrote a journal.

    >>> processes = Processes("third", {"first": {1: 20}, "second": {1: 35}})
    >>> processes.reached("first", 1, 20), processes.reached("first", 1, 21), processes.reached("third", 1, 99), processes.reached("lost", 1, 2)
    (True, False, True, False)
    """

    now: str = ""
    """The present one; "" if it is not recorded."""
    before: Mapping[str, Mapping[int, int]] = {}
    """The earlier ones: the version of each policy that each of them reached."""

    def reached(self, process: str, policy: int, version: int) -> bool:
        """Whether the journal has this version of a policy, as this process reached it."""
        return version <= self.before[process].get(policy, 0) if process in self.before else process == self.now != ""


def make_receipt(secret: bytes, row: DecisionRow, active: bool, process: str) -> str:
    """Make the receipt of a decision. `active` is False if it must be activated first; `process` is the process that makes it.

    >>> row = DecisionRow("d", 1, 7, 1, 0, 0.25, 0.5, b"\\x03", 1.0, None, "0.5", 6, 0.0, None, b"asked", 99, 9)
    >>> order, process = read_receipt(b"secret" * 4, make_receipt(b"secret" * 4, row, True, "first"))
    >>> order == NewDecision(row._replace(u=u_of(b"secret" * 4, "d")), True), process
    (True, 'first')
    """
    seen = None if row.seen is None else row.seen.hex()
    plain = [*row[:6], row.available.hex(), *row[8:13], seen, row.body.hex(), *row[15:], active, process]  # as in NAMES
    body = context_json(plain).encode()
    return f"{MARK}{_text(body)}.{_text(_seal(secret, body))}"


def read_receipt(secret: bytes, text: str) -> tuple[NewDecision, str] | None:
    """Return a receipt's decision and process; None if it was made with another secret. Raises ValueError etc. if it is no receipt."""
    body, seal = map(_bytes, text.removeprefix(MARK).split("."))
    if not hmac.compare_digest(seal, _seal(secret, body)):
        return None
    *plain, active, process = json.loads(body)
    values = dict(zip(NAMES, plain, strict=True))
    for name in BYTES:
        values[name] = None if values[name] is None else bytes.fromhex(values[name])
    return NewDecision(DecisionRow(u=u_of(secret, values["id"]), **values), active), process


def policy_of(text: Any) -> int:
    """Return the policy that a receipt names, unverified. Raises Unreadable if it is no receipt."""
    try:
        if not isinstance(text, str) or not text.startswith(MARK) or not text.isascii() or len(text) > LARGEST:
            raise ValueError
        return int(json.loads(_bytes(text.removeprefix(MARK).split(".")[0]))[NAMES.index("policy")])
    except (ValueError, TypeError, LookupError, RecursionError, AttributeError, OverflowError):
        raise _unreadable(text) from None


def restore_decision(policies: Mapping[int, Served], processes: Processes, decision: str, text: Any) -> NewDecision | None:
    """Return the decision to write if the journal does not have it; None if its policy is gone.

    Raises InputError if the receipt is wrong, or Unreadable, a subclass, if its format is unknown.
    """
    served = policies.get(policy_of(text))
    if served is None:
        return None
    try:
        proved = read_receipt(served.secret, text)
    except (ValueError, TypeError, LookupError, AttributeError):
        raise _unreadable(text) from None
    if proved is None or proved[0].row.policy != served.id:
        raise InputError("receipt: it was made by another service, or it was changed. Send it as it came with the decision.")
    decision_order, process = proved
    row = decision_order.row
    if row.id != decision:
        raise InputError(
            f"receipt: it belongs to the decision {quoted(row.id)}, not to {quoted(decision)}. Send the receipt of that decision."
        )
    if row.version > served.version:
        raise InputError(
            f"receipt: it is of version {row.version}, but the journal ends at {served.version}. Is this journal an older copy?"
        )
    if not processes.reached(process, row.policy, row.version):
        raise InputError(f"receipt: it is of a version {row.version} that this journal has lost. The journal is an older copy.")
    if not _arms_exist(served, row) or row.learner > served.version:  # its update could never be applied
        raise InputError("receipt: it has arms that this journal does not have. Is this journal an older copy?")
    return decision_order


def _arms_exist(served: Served, row: DecisionRow) -> bool:
    """Whether a policy has the arms of a row, or their groups if arms come with each request."""
    if (row.played is None) != (served.open is None):
        return False
    if row.played is not None:
        return row.arm < len(served.arms) == len(counts_of(row.available))
    return max(row.arm, *indices_of(row.available), -1 if row.baseline is None else row.baseline) < len(served.arms)


def _unreadable(text: Any) -> Unreadable:
    return Unreadable(f"receipt must be what came with the decision, text that begins with {MARK}; given {quoted(text)}.")


def _seal(secret: bytes, body: bytes) -> bytes:
    return hashlib.blake2b(body, key=secret, digest_size=16, person=PERSON).digest()


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
