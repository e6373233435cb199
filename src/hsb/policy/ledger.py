"""Which decisions a policy has learned from, so that none counts twice, however late it comes."""

from __future__ import annotations

import uuid
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import FileError, InputError
from .decision import Decision

KEPT = 1000  # policies that one descends from, the last ones, that it remembers
MOST = 2**53

BLOCK = 4096  # decisions that are remembered together, a bit each
BLOCKS = 4096  # of them, at most: 2 MiB


class Elsewhere:
    """Decisions of other policies that were learned here, by stream and number: each once, however often it is delivered.

    Bounded: bits of 4,096 blocks of 4,096 numbers in a row are kept, of one stream or of many; then the block that was written to the longest
    time ago is forgotten.

    >>> some = Elsewhere()
    >>> some.add("a stream", 7)
    >>> some.has("a stream", 7), some.has("a stream", 8)
    (True, False)
    """

    def __init__(self, plain: Mapping[str, Mapping[str, str]] | None = None) -> None:
        self.blocks: OrderedDict[tuple[str, int], bytearray] = OrderedDict()
        for stream, blocks in ({} if plain is None else plain).items():
            for number, bits in blocks.items():
                self.blocks[str(stream), int(number)] = bytearray.fromhex(bits)
        if len(self.blocks) > BLOCKS or any(len(bits) != BLOCK // 8 for bits in self.blocks.values()):
            raise ValueError("its record of decisions from elsewhere does not fit")

    def has(self, stream: str, number: int) -> bool:
        """Was it learned?"""
        bits = self.blocks.get((stream, number // BLOCK))
        return bits is not None and bool(bits[number % BLOCK >> 3] >> (number & 7) & 1)

    def add(self, stream: str, number: int) -> None:
        """It was learned. An interrupt loses nothing, and doing it again changes nothing."""
        where = stream, number // BLOCK
        if where not in self.blocks:
            self.blocks[where] = bytearray(BLOCK // 8)
        self.blocks.move_to_end(where)  # the last one written to
        self.blocks[where][number % BLOCK >> 3] |= 1 << (number & 7)
        while len(self.blocks) > BLOCKS:
            self.blocks.popitem(last=False)

    def plain(self) -> dict[str, dict[str, str]]:
        """As JSON has it, streams in the order in which they are forgotten."""
        found: dict[str, dict[str, str]] = {}
        for (stream, number), bits in self.blocks.items():
            found.setdefault(stream, {})[str(number)] = bits.hex()
        return found

    def copy(self) -> Elsewhere:
        """An independent one."""
        twin = Elsewhere()
        twin.blocks = OrderedDict((where, bytearray(bits)) for where, bits in self.blocks.items())
        return twin


class Ledger:
    """A policy's own decisions by number, one bit each; those of others by stream and number (`Elsewhere`), or by what they carry.

    Every policy has a name of its own (`stream`), which its decisions carry. A copy gets a new name and remembers, for each policy it
    descends from, how many rounds that one had learned and how many decisions it had issued at the parting (`past`).

    Loading counts as copying, so that a service that loads, learns and saves has ever more ancestors: the last KEPT are remembered. A name is
    the family's, how many partings there were since its first member, and a part that is random: `family-generation-random`. So a decision
    by a forgotten ancestor is known to be as old as that, and is refused: nobody can tell any more whether it was learned from.
    """

    def __init__(
        self,
        issued: int = 0,
        bits: bytes = b"",
        stream: str | None = None,
        past: dict[str, tuple[int, int]] | None = None,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self.issued = issued
        self.bits = bytearray(bits)
        self.stream = f"{uuid.uuid4().hex}-0-0" if stream is None else stream
        self.past = {} if past is None else past
        self.elsewhere = Elsewhere() if elsewhere is None else elsewhere

    def fork(self, rounds: int) -> Ledger:
        """The ledger of a copy made after `rounds` rounds."""
        past = {**self.past, self.stream: (rounds, self.issued)}
        for name in list(past)[:-KEPT]:
            del past[name]
        family, generation = _lineage(self.stream)
        return Ledger(
            self.issued, bytes(self.bits), f"{family}-{generation + 1}-{uuid.uuid4().hex[:16]}", past, self.elsewhere.copy()
        )

    def packed(self) -> bytes:
        """The bits of the decisions issued."""
        return bytes(self.bits[: -(-self.issued // 8)])

    @classmethod
    def unpacked(cls, issued: int, bits: bytes, stream: Any, past: Any, elsewhere: Any = None) -> Ledger:
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
        return cls(issued, bytes(kept), stream, known, Elsewhere(elsewhere))

    def same(self) -> Ledger:
        """The same one, not shared."""
        return Ledger(self.issued, bytes(self.bits), self.stream, dict(self.past), self.elsewhere.copy())

    def issue(self) -> int:
        """The number of a new decision, and room for its bit."""
        number = self.issued
        if number >> 3 >= len(self.bits):
            self.bits.extend(bytes(64 + len(self.bits) // 4))
        self.issued = number + 1
        return number

    def name_of(self, decision: Decision) -> tuple[Any, ...]:
        """What a decision that is not the policy's own is known by: its stream and number, or, without them, itself."""
        number, source = decision.id, decision._stream
        if source is None or isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 0:
            return (id(decision),)
        return source, int(number)

    def check(self, decision: Decision) -> bool:
        """Refuse what was learned before; tell whether the decision is the policy's own, known by its number."""
        number, source = decision.id, decision._stream
        if (
            source is self.stream
            and type(number) is int
            and 0 <= number < self.issued
            and not self.bits[number >> 3] >> (number & 7) & 1
        ):
            return True  # the commonest case
        own = number is not None and (source is None or source == self.stream)
        if number is not None and source in self.past:
            own = number < self.past[source][1]  # issued before the copy was made
        if own:
            if isinstance(number, bool) or not isinstance(number, int | np.integer) or not 0 <= number < self.issued:
                what = f"Decision {number!r} was never issued by this policy, which has issued {self.issued}"
                raise InputError(f"{what}. Leave id out for decisions from elsewhere.")
            twice = self._bit(int(number))
        else:
            if number is not None and source is not None and source not in self.past and self._is_forgotten(source):
                raise InputError(
                    f"{decision!r} was made more than {KEPT:,} loads and copies ago, so it cannot be told whether it was learned from "
                    "already. Make a new one with hsb.Decision(context=, arm=, propensity=) if it was not."
                )
            twice = any(who == self.stream or when <= self.past.get(who, (-1, 0))[0] for who, when in decision._taught)
            name = self.name_of(decision)
            twice = twice or (len(name) == 2 and self.elsewhere.has(*name))
        if twice:
            raise InputError(f"{decision!r} was learned from already. Each decision counts once; this feedback was not used.")
        return own

    def _is_forgotten(self, source: str) -> bool:
        """Is a policy of the same family as old as the ancestors that are not remembered any more?"""
        (family, generation), (own, now) = _lineage(source), _lineage(self.stream)
        return family == own and len(self.past) >= KEPT and generation < now - KEPT

    def _bit(self, number: int) -> bool:
        return bool(self.bits[number >> 3] >> (number & 7) & 1)

    def close(self, decision: Decision, rounds: int, *, own: bool) -> None:
        """It was learned from, as the policy's round number `rounds`."""
        number = decision.id
        if own and number is not None:  # else it was proposed, and only a journal knows it
            self.bits[number >> 3] |= 1 << (number & 7)
        elif not own and len(name := self.name_of(decision)) == 2:
            self.elsewhere.add(*name)
        decision._taught += ((self.stream, rounds),)

    def closed(self, decision: Decision, rounds: int) -> bool:
        """Was that done, to the end?"""
        return (self.stream, rounds) in decision._taught


def _lineage(stream: str) -> tuple[str, int]:
    """Family and generation in a name; one of before there were families is the first of its own."""
    family, _, rest = stream.partition("-")
    generation = rest.partition("-")[0]
    return family, int(generation) if generation.isdecimal() and len(generation) < 16 else 0


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and 0 < len(name) <= 200
