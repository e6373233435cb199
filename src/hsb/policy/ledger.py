"""Which decisions a policy has learned from, so that none counts twice, however late it comes."""

from __future__ import annotations

import os
import time
from typing import Any

from ..errors import FileError, InputError
from .decision import Decision
from .elsewhere import MOST, Elsewhere
from .feedback import ArmFeedback

KEPT = 1000  # policies that one descends from, the last ones, that it remembers


class Ledger:
    """A policy's own decisions by number, one bit each; those of others by stream and number (`Elsewhere`), or by what they carry.

    Every policy has a name of its own (`stream`), which its decisions carry. A copy gets a new name and remembers, for each policy it
    descends from, how many rounds that one had learned and how many decisions it had issued at the parting (`past`).

    Loading counts as copying, so that a service that loads, learns and saves has ever more ancestors: the last KEPT are remembered. A name is
    the family's, how many partings there were since its first member, when it began, and 52 random bits: `family-generation-birth`. So a
    decision by a forgotten ancestor is known to be as old as that, and is refused: nobody can tell any more whether it was learned from.

    `feedback` counts decisions and updates by arm. A copy goes on with it; a file does not hold it. With `learns=False` it is that of a policy
    which only decides: it numbers decisions, keeps no bits, and refuses to learn.
    """

    def __init__(
        self,
        issued: int = 0,
        bits: bytes = b"",
        stream: str | None = None,
        past: dict[str, tuple[int, int]] | None = None,
        elsewhere: Elsewhere | None = None,
        feedback: ArmFeedback | None = None,
        *,
        learns: bool = True,
    ) -> None:
        self.learns = learns
        self.issued = issued
        self.bits = bytearray(bits)
        self.stream = _new_stream() if stream is None else stream
        self.past = {} if past is None else past
        self.elsewhere = Elsewhere() if elsewhere is None else elsewhere
        self.feedback = ArmFeedback() if feedback is None else feedback

    def fork(self, rounds: int) -> Ledger:
        """The ledger of a copy made after `rounds` rounds."""
        if not self.learns:
            return Ledger(learns=False)
        past = {**self.past, self.stream: (rounds, self.issued)}
        for name in list(past)[:-KEPT]:
            del past[name]
        family, generation = _lineage(self.stream)
        stream = _new_stream(family, generation + 1)
        return Ledger(self.issued, bytes(self.bits), stream, past, self.elsewhere.copy(), self.feedback.copy())

    def packed(self) -> bytes:
        """The bits of the decisions issued."""
        return bytes(self.bits[: -(-self.issued // 8)])

    @classmethod
    def unpacked(cls, issued: int, bits: bytes, stream: Any, past: Any, elsewhere: Elsewhere | None = None) -> Ledger:
        """What a file holds of one; FileError where it cannot be."""
        length = -(-issued // 8)
        if not length <= len(bits) <= 2 * length + 4096:  # older files have room for more
            raise FileError("its ledger of decisions is too short, or too long.")
        kept = bytearray(bits[:length])
        if issued % 8:
            kept[-1] &= (1 << issued % 8) - 1
        if not isinstance(past, dict) or not _is_name(stream) or not all(map(_is_name, past)) or stream in past:
            raise FileError("its ledger does not say whose decisions it knows.")
        known: dict[str, tuple[int, int]] = {}
        for name in list(past)[-KEPT:]:
            counts = past[name]
            if not isinstance(counts, list) or len(counts) != 2:
                raise FileError("its ledger does not say when it parted.")
            rounds, before = counts
            if type(rounds) is not int or type(before) is not int or not (0 <= rounds <= MOST and 0 <= before <= issued):
                raise FileError("its ledger parted after rounds or decisions that it does not have.")
            known[name] = (rounds, before)
        return cls(issued, bytes(kept), stream, known, elsewhere)

    def same(self) -> Ledger:
        """The same one, not shared; of a policy that only decides, one with numbers of its own."""
        if not self.learns:
            return Ledger(learns=False)
        return Ledger(self.issued, bytes(self.bits), self.stream, dict(self.past), self.elsewhere.copy(), self.feedback.copy())

    def issue(self) -> int:
        """The number of a new decision, and room for its bit."""
        number = self.issued
        if number >> 3 >= len(self.bits) and self.learns:
            self.bits.extend(bytes(64 + len(self.bits) // 4))
        self.issued = number + 1
        return number

    def name_of(self, decision: Decision) -> tuple[Any, ...]:
        """What a decision is known by: its stream and number, or, if no policy numbered it, itself."""
        source, number = decision._stream, decision.number
        return (id(decision),) if source is None or number is None else (source, number)

    def check(self, decision: Decision) -> bool:
        """Refuse what was learned before; tell whether the decision is the policy's own, known by its number."""
        if not self.learns:
            raise InputError(
                "This policy follows a file and only decides. Send decision.to_dict() and the reward to the process that learns and saves."
            )
        number, source = decision.number, decision._stream
        if number is None or source is None:
            self._refuse_if(self._taught_here(decision), decision)
            return False
        if source is self.stream and 0 <= number < self.issued and not self.bits[number >> 3] >> (number & 7) & 1:
            return True  # the commonest case
        own = source == self.stream
        if source in self.past:
            own = number < self.past[source][1]  # issued before the copy was made
        if own:
            if not 0 <= number < self.issued:
                what = f"Decision {number!r} was never issued by this policy, which has issued {self.issued}"
                raise InputError(f"{what}. Leave id out for decisions from elsewhere.")
            self._refuse_if(self._bit(number), decision)
            return True
        if source not in self.past and self._is_forgotten(source):
            raise InputError(
                f"{decision!r} was made more than {KEPT:,} loads and copies ago, so it cannot be told whether it was learned from "
                "already. Make a new one with hsb.Decision(context=, arm=, propensity=) if it was not."
            )
        self._refuse_if(self._taught_here(decision) or self.elsewhere.has(source, number), decision)
        if self.elsewhere.is_forgotten(source, number):
            raise InputError(
                f"{decision!r} was made so long ago that this policy does not remember any more whether it learned from it. "
                "This feedback was not used."
            )
        return False

    def _taught_here(self, decision: Decision) -> bool:
        return any(who == self.stream or when <= self.past.get(who, (-1, 0))[0] for who, when in decision._taught)

    def _refuse_if(self, twice: bool, decision: Decision) -> None:
        if twice:
            raise InputError(f"{decision!r} was learned from already. Each decision counts once; this feedback was not used.")

    def _is_forgotten(self, source: str) -> bool:
        """Is a policy of the same family as old as the ancestors that are not remembered any more?"""
        (family, generation), (own, now) = _lineage(source), _lineage(self.stream)
        return family == own and len(self.past) >= KEPT and generation < now - KEPT

    def _bit(self, number: int) -> bool:
        return bool(self.bits[number >> 3] >> (number & 7) & 1)

    def close(self, decision: Decision, rounds: int, *, own: bool) -> None:
        """It was learned from, as the policy's round number `rounds`."""
        number, source = decision.number, decision._stream
        if own and number is not None:  # else it was proposed, and only a journal knows it
            self.bits[number >> 3] |= 1 << (number & 7)
        elif not own and number is not None and source is not None:
            self.elsewhere.add(source, number)
        decision._taught += ((self.stream, rounds),)

    def closed(self, decision: Decision, rounds: int) -> bool:
        """Was that done, to the end?"""
        return (self.stream, rounds) in decision._taught


def _new_stream(family: str | None = None, generation: int = 0) -> str:
    """A name that no other stream has, anywhere: when it began, in ms, and 52 random bits within that and within its family (64 more)."""
    random = os.urandom(15).hex()
    return f"{random[14:] if family is None else family}-{generation}-{time.time_ns() // 1_000_000 & 0xFFFFFFFFFFF:011x}{random[:13]}"


def _lineage(stream: str) -> tuple[str, int]:
    """Family and generation in a name; one of before there were families is the first of its own."""
    family, _, rest = stream.partition("-")
    generation = rest.partition("-")[0]
    return family, int(generation) if generation.isdecimal() and len(generation) < 16 else 0


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and 0 < len(name) <= 200
