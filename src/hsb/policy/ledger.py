"""`Ledger`: which decisions a policy has learned, so that no decision counts twice, however late its feedback."""

from __future__ import annotations

import os
import time
from typing import Any

from ..errors import FileError, InputError
from .decision import Decision
from .elsewhere import MOST, Elsewhere
from .feedback import ArmFeedback

REMEMBERED = 1000  # ancestors that a policy remembers, the latest ones


class Ledger:
    """A record of decisions learned: the policy's own by number, a bit each; others by lineage and number (`Elsewhere`).

    Every policy has a `lineage`, a unique id, and its decisions are named `lineage-number`. A copy begins a new lineage. It remembers in
    `past`, for each ancestor, the rounds learned and the decisions issued when they parted.

    Loading counts as copying. So a service that loads, learns and saves has ever more ancestors, and only the latest REMEMBERED are kept. A
    lineage is `family-generation-birth`: the id of the family, the number of copies since its first member, and the time at which it began
    with 52 random bits. So the generation of a decision shows that its ancestor is forgotten. Such a decision is refused, since it may have
    been learned.

    `feedback` counts decisions and updates by arm; a copy continues the counts, a file does not hold them. `learns=False` is for a policy that
    only decides: it numbers decisions, keeps no bits, and refuses to learn.
    """

    def __init__(
        self,
        issued: int = 0,
        bits: bytes = b"",
        lineage: str | None = None,
        past: dict[str, tuple[int, int]] | None = None,
        elsewhere: Elsewhere | None = None,
        feedback: ArmFeedback | None = None,
        *,
        learns: bool = True,
    ) -> None:
        self.learns = learns
        self.issued = issued
        self.bits = bytearray(bits)
        self.lineage = _new_lineage() if lineage is None else lineage
        self.past = {} if past is None else past
        self.elsewhere = Elsewhere() if elsewhere is None else elsewhere
        self.feedback = ArmFeedback() if feedback is None else feedback

    def fork(self, rounds: int) -> Ledger:
        """Return the ledger of a copy made after `rounds` rounds."""
        if not self.learns:
            return Ledger(learns=False)
        past = {**self.past, self.lineage: (rounds, self.issued)}
        for forgotten in list(past)[:-REMEMBERED]:
            del past[forgotten]
        family, generation = _parse(self.lineage)
        lineage = _new_lineage(family, generation + 1)
        return Ledger(self.issued, bytes(self.bits), lineage, past, self.elsewhere.copy(), self.feedback.copy())

    def packed(self) -> bytes:
        """Return the bits of the decisions issued."""
        return bytes(self.bits[: -(-self.issued // 8)])

    @classmethod
    def unpacked(cls, issued: int, bits: bytes, lineage: Any, past: Any, elsewhere: Elsewhere | None = None) -> Ledger:
        """Make the ledger that a file holds; FileError if it is not one."""
        length = -(-issued // 8)
        if not length <= len(bits) <= 2 * length + 4096:  # older files have room for more
            raise FileError("its ledger of decisions is too short or too long.")
        own_bits = bytearray(bits[:length])
        if issued % 8:
            own_bits[-1] &= (1 << issued % 8) - 1
        if not isinstance(past, dict) or not _is_lineage(lineage) or not all(map(_is_lineage, past)) or lineage in past:
            raise FileError("its ledger does not name its lineage and ancestors.")
        ancestors: dict[str, tuple[int, int]] = {}
        for name in list(past)[-REMEMBERED:]:
            counts = past[name]
            if not isinstance(counts, list) or len(counts) != 2:
                raise FileError("its ledger lacks the counts of an ancestor.")
            rounds, before = counts
            if type(rounds) is not int or type(before) is not int or not (0 <= rounds <= MOST and 0 <= before <= issued):
                raise FileError("its ledger has an ancestor with impossible counts of rounds or decisions.")
            ancestors[name] = (rounds, before)
        return cls(issued, bytes(own_bits), lineage, ancestors, elsewhere)

    def clone(self) -> Ledger:
        """Return an independent ledger of the same lineage; for a policy that only decides, one of a new lineage."""
        if not self.learns:
            return Ledger(learns=False)
        return Ledger(self.issued, bytes(self.bits), self.lineage, dict(self.past), self.elsewhere.copy(), self.feedback.copy())

    def issue(self) -> int:
        """Return the number of a new decision, and make room for its bit."""
        number = self.issued
        if number >> 3 >= len(self.bits) and self.learns:
            self.bits.extend(bytes(64 + len(self.bits) // 4))
        self.issued = number + 1
        return number

    def identity(self, decision: Decision) -> tuple[Any, ...]:
        """Return a key that is equal for the same decision: its lineage and number, or the object itself if no policy made it."""
        source, number = decision._lineage, decision.number
        return (id(decision),) if source is None or number is None else (source, number)

    def check(self, decision: Decision) -> bool:
        """Raise InputError if a decision was learned before; return whether this policy or an ancestor made it."""
        if not self.learns:
            raise InputError(
                "This policy follows a file and only decides. Send decision.to_dict() and the reward to the process that learns and saves."
            )
        number, source = decision.number, decision._lineage
        if number is None or source is None:
            self._refuse_if(self._has_learned(decision), decision)
            return False
        if source is self.lineage and 0 <= number < self.issued and not self.bits[number >> 3] >> (number & 7) & 1:
            return True  # the commonest case
        own = source == self.lineage
        if source in self.past:
            own = number < self.past[source][1]  # issued before the copy was made
        if own:
            if not 0 <= number < self.issued:
                raise InputError(
                    f"This policy has not made decision number {number!r}: it has made {self.issued}. "
                    "Leave id out for decisions from elsewhere."
                )
            self._refuse_if(self._bit(number), decision)
            return True
        if source not in self.past and self._is_forgotten(source):
            raise InputError(
                f"{decision!r} was made more than {REMEMBERED:,} loads and copies ago, so this policy no longer knows whether it learned it. "
                "If it did not, make a new one with hsb.Decision(context=, arm=, propensity=)."
            )
        self._refuse_if(self._has_learned(decision) or self.elsewhere.has(source, number), decision)
        if self.elsewhere.is_forgotten(source, number):
            raise InputError(
                f"{decision!r} was made so long ago that this policy no longer knows whether it learned it. "
                "This feedback was not used."
            )
        return False

    def _has_learned(self, decision: Decision) -> bool:
        """Return whether this object was learned by this policy, or by an ancestor before they parted."""
        return any(
            lineage == self.lineage or rounds <= self.past.get(lineage, (-1, 0))[0] for lineage, rounds in decision._learned_by
        )

    def _refuse_if(self, is_learned: bool, decision: Decision) -> None:
        if is_learned:
            raise InputError(f"{decision!r} was learned already. Each decision counts once; this feedback was not used.")

    def _is_forgotten(self, source: str) -> bool:
        """Return whether a lineage of the same family is older than all remembered ancestors."""
        (family, generation), (own, now) = _parse(source), _parse(self.lineage)
        return family == own and len(self.past) >= REMEMBERED and generation < now - REMEMBERED

    def _bit(self, number: int) -> bool:
        return bool(self.bits[number >> 3] >> (number & 7) & 1)

    def close(self, decision: Decision, rounds: int, *, own: bool) -> None:
        """Record that a decision was learned, as the policy's round number `rounds`."""
        number, source = decision.number, decision._lineage
        if own and number is not None:  # else `propose` made it, and only a journal knows it
            self.bits[number >> 3] |= 1 << (number & 7)
        elif not own and number is not None and source is not None:
            self.elsewhere.add(source, number)
        decision._learned_by += ((self.lineage, rounds),)

    def has_closed(self, decision: Decision, rounds: int) -> bool:
        """Return whether `close` did that, to the end."""
        return (self.lineage, rounds) in decision._learned_by


def _new_lineage(family: str | None = None, generation: int = 0) -> str:
    """Return a lineage that is unique everywhere: 64 random bits of its family, then the time in ms and 52 random bits."""
    random = os.urandom(15).hex()
    return f"{random[14:] if family is None else family}-{generation}-{time.time_ns() // 1_000_000 & 0xFFFFFFFFFFF:011x}{random[:13]}"


def _parse(lineage: str) -> tuple[str, int]:
    """Return the family and the generation of a lineage; one without a generation is the first of its family."""
    family, _, rest = lineage.partition("-")
    generation = rest.partition("-")[0]
    return family, int(generation) if generation.isdecimal() and len(generation) < 16 else 0


def _is_lineage(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 200
