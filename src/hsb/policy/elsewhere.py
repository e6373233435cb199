"""Which decisions of other policies were learned, in bounded memory: what is forgotten is refused, and so never learned twice."""

from __future__ import annotations

import heapq
import re
import time
from collections import OrderedDict
from typing import Any

BLOCK = 4096  # decisions in a row that are remembered together, a bit each
ROOM = 16 << 20  # bytes that the record may take: 100 million decisions of a few streams, or one each of 24,000 streams
STREAM_COST, BLOCK_COST = 512, 160  # bytes that a stream and a block take beside their bits
MOST = 2**53
DAY = 24 * 3600 * 1000  # ms

_BORN = re.compile(r"[0-9a-f]{1,32}-[0-9]{1,15}-([0-9a-f]{11})[0-9a-f]{13}")  # the name of a stream (`ledger.py`)


def birth(stream: str) -> int:
    """When a stream began, in ms since 1970, as its name says; 0 if it does not, or says more than a day from now: a clock is wrong there.

    >>> birth("00ff00ff00ff00ff-3-18f00000000123456789abcd"), birth("another")
    (1713691951104, 0)
    """
    found = _BORN.fullmatch(stream)
    began = int(found[1], 16) if found else 0
    return began if began <= time.time_ns() // 1_000_000 + DAY else 0


class _Stream:
    """What is known of one: the bits of blocks by their place. Of numbers below `floor` nothing is known any more."""

    __slots__ = ("blocks", "floor")

    def __init__(self, floor: int = 0, blocks: dict[int, bytearray] | None = None) -> None:
        self.floor = floor
        self.blocks: dict[int, bytearray] = {} if blocks is None else blocks

    @property
    def size(self) -> int:
        return STREAM_COST + sum(BLOCK_COST + len(bits) for bits in self.blocks.values())


class Elsewhere:
    """Decisions of other policies that were learned here, by stream and number: each once, however often it is delivered.

    It takes `room` bytes at most. When they are used up, the streams with most blocks lose their lowest ones; if each has one block, the
    streams in which nothing was learned for the longest time are forgotten whole. `is_forgotten` tells the decisions of which nobody can say
    any more whether they were learned: those in lost blocks, and those of unknown streams that are no younger than one that was forgotten.

    >>> some = Elsewhere()
    >>> some.add("a stream", 7)
    >>> some.has("a stream", 7), some.has("a stream", 8), some.is_forgotten("a stream", 8)
    (True, False, False)
    """

    def __init__(self, *, room: int = ROOM) -> None:
        self.room = room
        self.streams: OrderedDict[str, _Stream] = OrderedDict()
        self.since = -1  # the latest birth of a stream that was forgotten
        self._size = 0  # at most what the streams take

    def has(self, stream: str, number: int) -> bool:
        """Was it learned?"""
        known = self.streams.get(stream)
        bits = None if known is None else known.blocks.get(number // BLOCK)
        byte = number % BLOCK >> 3
        return bits is not None and byte < len(bits) and bool(bits[byte] >> (number & 7) & 1)

    def is_forgotten(self, stream: str, number: int) -> bool:
        """Is it one of those of which it is not known any more whether they were learned?"""
        known = self.streams.get(stream)
        return birth(stream) <= self.since if known is None else number < known.floor

    def add(self, stream: str, number: int) -> None:
        """It was learned. An interrupt loses nothing, and doing it again changes nothing."""
        known = self.streams.get(stream)
        if known is None:
            self._size += STREAM_COST
            known = self.streams[stream] = _Stream()
        self.streams.move_to_end(stream)  # the last one written to
        bits = known.blocks.get(number // BLOCK)
        if bits is None:
            self._size += BLOCK_COST
            bits = known.blocks[number // BLOCK] = bytearray()
        byte = number % BLOCK >> 3
        if byte >= len(bits):
            longer = min(max(byte + 1, 2 * len(bits)), BLOCK // 8) - len(bits)
            self._size += longer
            bits.extend(bytes(longer))
        bits[byte] |= 1 << (number & 7)
        if self._size > self.room:
            self._forget(self.room // 8 * 7)

    def _forget(self, room: int) -> None:
        """Make room: what goes is known to be forgotten before it goes."""
        size = sum(known.size for known in self.streams.values())
        places = {name: sorted(known.blocks, reverse=True) for name, known in self.streams.items() if len(known.blocks) > 1}
        largest = [(-len(each), name) for name, each in places.items()]
        heapq.heapify(largest)
        while size > room and largest:
            name = largest[0][1]
            lowest, known = places[name].pop(), self.streams[name]
            known.floor = (lowest + 1) * BLOCK
            size -= BLOCK_COST + len(known.blocks.pop(lowest))
            if len(places[name]) > 1:
                heapq.heapreplace(largest, (-len(places[name]), name))
            else:
                heapq.heappop(largest)
        while size > room and len(self.streams) > 1:
            name, known = next(iter(self.streams.items()))
            self.since = max(self.since, birth(name))
            size -= known.size
            del self.streams[name]
        self._size = size

    def plain(self) -> dict[str, Any]:
        """All but the bits, as JSON has it; streams in the order in which they are forgotten."""
        told = [
            [name, each.floor, [[at, len(bits)] for at, bits in each.blocks.items()]] for name, each in self.streams.items()
        ]
        return {"since": self.since, "streams": told}

    def packed(self) -> bytes:
        """The bits, block by block."""
        return b"".join(bytes(bits) for each in self.streams.values() for bits in each.blocks.values())

    @classmethod
    def unpacked(cls, plain: Any, packed: bytes) -> Elsewhere:
        """What `plain` and `packed` gave; ValueError where it does not fit together."""
        twin, at = cls(), 0
        try:
            since, streams = plain["since"], plain["streams"]
            for name, floor, blocks in streams:
                if not isinstance(name, str) or not 0 < len(name) <= 200 or name in twin.streams or not _fits(floor):
                    raise ValueError
                known = twin.streams[name] = _Stream(floor)
                for place, length in blocks:
                    if not _fits(place) or place in known.blocks or type(length) is not int or not 0 < length <= BLOCK // 8:
                        raise ValueError
                    known.blocks[place] = bytearray(packed[at : at + length])
                    at += length
            twin._size = sum(known.size for known in twin.streams.values())
            if at != len(packed) or type(since) is not int or not -1 <= since <= MOST or twin._size > 2 * ROOM:
                raise ValueError
        except (LookupError, TypeError, ValueError):
            raise ValueError("its record of decisions from elsewhere does not fit") from None
        twin.since = since
        return twin

    def copy(self) -> Elsewhere:
        """An independent one."""
        twin = Elsewhere(room=self.room)
        for name, known in self.streams.items():
            twin.streams[name] = _Stream(known.floor, {at: bytearray(bits) for at, bits in known.blocks.items()})
        twin.since, twin._size = self.since, self._size
        return twin


def _fits(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST
