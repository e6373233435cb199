"""Receipts: a decision that proves itself. Whoever brings one may say what the decision earned, though the journal has lost it.

A receipt is the decision's row, without u, which follows from the policy's secret and the id, and the process that made it; and a BLAKE2b of
them under that secret. It can be read by whoever holds it, the context too, and made by nobody else. A journal knows the processes that wrote
to it and how far each had come, so a receipt of a time that it has lost, since it is an older copy, is known for one.
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
from .rows import DecisionRow
from .sampling import places_of, u_of, written

MARK = "hsb1."
LARGEST = 1 << 20  # letters
PERSON = b"hsb receipt"  # so that it is never the number that draws
BYTES = ("available", "seen", "body")
NAMES = tuple(name for name in DecisionRow._fields if name != "u")


class Unreadable(InputError):
    """It is no receipt, or one of another form, as another version of hsb makes it."""


class Processes(NamedTuple):
    """The processes that wrote a journal.

    >>> processes = Processes("third", {"first": {1: 20}, "second": {1: 35}})
    >>> processes.reached("first", 1, 20), processes.reached("first", 1, 21), processes.reached("third", 1, 99), processes.reached("lost", 1, 2)
    (True, False, True, False)
    """

    now: str = ""
    """The one that does; "" where that is not written down."""
    before: Mapping[str, Mapping[int, int]] = {}
    """The others: the version at which each left each policy."""

    def reached(self, process: str, policy: int, version: int) -> bool:
        """Is that version of a policy, in that process, one that the journal has?"""
        return version <= self.before[process].get(policy, 0) if process in self.before else process == self.now != ""


def receipt(secret: bytes, row: DecisionRow, active: bool, process: str) -> str:
    """The receipt of a decision; `active` where it was not to be activated first, `process` the process that makes it.

    >>> row = DecisionRow("d", 1, 7, 1, 0, 0.25, 0.5, b"\\x03", 1.0, None, "0.5", 6, 0.0, None, b"asked", 99, 9)
    >>> made, process = opened(b"secret" * 4, receipt(b"secret" * 4, row, True, "first"))
    >>> made == NewDecision(row._replace(u=u_of(b"secret" * 4, "d")), True), process
    (True, 'first')
    """
    seen = None if row.seen is None else row.seen.hex()
    plain = [*row[:6], row.available.hex(), *row[8:13], seen, row.body.hex(), *row[15:], active, process]  # as in NAMES
    body = written(plain).encode()
    return f"{MARK}{_text(body)}.{_text(_seal(secret, body))}"


def opened(secret: bytes, text: str) -> tuple[NewDecision, str] | None:
    """The decision of a receipt, and who made it; None where it was not made with this secret. ValueError and the like where it is none."""
    body, seal = map(_bytes, text.removeprefix(MARK).split("."))
    if not hmac.compare_digest(seal, _seal(secret, body)):
        return None
    *plain, active, process = json.loads(body)
    values = dict(zip(NAMES, plain, strict=True))
    for name in BYTES:
        values[name] = None if values[name] is None else bytes.fromhex(values[name])
    return NewDecision(DecisionRow(u=u_of(secret, values["id"]), **values), active), process


def policy_of(text: Any) -> int:
    """The policy that a receipt says it is of, unproved; Unreadable where it is no receipt."""
    try:
        if not isinstance(text, str) or not text.startswith(MARK) or not text.isascii() or len(text) > LARGEST:
            raise ValueError
        return int(json.loads(_bytes(text.removeprefix(MARK).split(".")[0]))[NAMES.index("policy")])
    except (ValueError, TypeError, LookupError, RecursionError, AttributeError, OverflowError):
        raise _unreadable(text) from None


def restored(policies: Mapping[int, Served], processes: Processes, decision: str, text: Any) -> NewDecision | None:
    """What to write where the journal has no such decision; None where its policy is gone. InputError where the receipt is not right,
    of which Unreadable where nobody can tell."""
    served = policies.get(policy_of(text))
    if served is None:
        return None
    try:
        proved = opened(served.secret, text)
    except (ValueError, TypeError, LookupError, AttributeError):
        raise _unreadable(text) from None
    if proved is None or proved[0].row.policy != served.id:
        raise InputError("receipt: it was not made here, or it was changed. Send it as it came with the decision.")
    found, process = proved
    row = found.row
    if row.id != decision:
        raise InputError(f"receipt: it is that of the decision {quoted(row.id)}, and not of {quoted(decision)}.")
    if row.version > served.version:
        raise InputError(
            f"receipt: it is of version {row.version}, and the journal ends at {served.version}. Is it an older copy?"
        )
    if not processes.reached(process, row.policy, row.version):
        raise InputError(f"receipt: it is of a version {row.version} that this journal has lost. It is an older copy.")
    arms = [row.arm, *places_of(row.available), *([] if row.baseline is None else [row.baseline])]
    if max(arms) >= len(served.arms) or row.learner > served.version:  # its update could never be folded
        raise InputError("receipt: it is of arms that this journal does not have. Is it an older copy?")
    return found


def _unreadable(text: Any) -> Unreadable:
    return Unreadable(f"receipt must be what came with the decision, text that begins with {MARK}; given {quoted(text)}.")


def _seal(secret: bytes, body: bytes) -> bytes:
    return hashlib.blake2b(body, key=secret, digest_size=16, person=PERSON).digest()


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
