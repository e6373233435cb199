"""`Elsewhere`: which decisions of other policies were learned, in bounded memory. Forgotten ones are refused, so none is learned twice."""

from __future__ import annotations

import heapq
import re
import time
from collections import OrderedDict
from typing import Any

BLOCK = 4096  # consecutive decisions remembered together, a bit each
ROOM = 16 << 20  # bytes that the record may take: 100 million decisions of a few lineages, or one each of 24,000 lineages
LINEAGE_COST, BLOCK_COST = 512, 160  # bytes that a lineage and a block take besides their bits
MOST = 2**53
DAY = 24 * 3600 * 1000  # ms

_LINEAGE = re.compile(r"[0-9a-f]{1,32}-[0-9]{1,15}-([0-9a-f]{11})[0-9a-f]{13}")  # as `ledger.py` makes it


def birth(lineage: str) -> int:
    """Return when a lineage began, in ms since 1970; 0 if its text has no time, or one more than a day ahead (a wrong clock).

    >>> birth("00ff00ff00ff00ff-3-18f00000000123456789abcd"), birth("another")
    (1713691951104, 0)
    """
    match = _LINEAGE.fullmatch(lineage)
    began = int(match[1], 16) if match else 0
    return began if began <= time.time_ns() // 1_000_000 + DAY else 0


class _Record:
    """The decisions learned of one lineage: bits, block by block. Numbers below `floor` are forgotten."""

    __slots__ = ("blocks", "floor")

    def __init__(self, floor: int = 0, blocks: dict[int, bytearray] | None = None) -> None:
        self.floor = floor
        self.blocks: dict[int, bytearray] = {} if blocks is None else blocks

    @property
    def size(self) -> int:
        return LINEAGE_COST + sum(BLOCK_COST + len(bits) for bits in self.blocks.values())


class Elsewhere:
    """Decisions of other policies that were learned here, by lineage and number, so that each is learned once, however often it is delivered.

    It takes at most `room` bytes. When they are used up, the lineages with most blocks lose their lowest blocks. If each has one block, the
    lineages that have not been learned from for the longest time are forgotten whole. `is_forgotten` is true of the decisions that may or may
    not have been learned: those in lost blocks, and those of unknown lineages that are no younger than a forgotten one.

    >>> record = Elsewhere()
    >>> record.add("a lineage", 7)
    >>> record.has("a lineage", 7), record.has("a lineage", 8), record.is_forgotten("a lineage", 8)
    (True, False, False)
    """

    def __init__(self, *, room: int = ROOM) -> None:
        self.room = room
        self.lineages: OrderedDict[str, _Record] = OrderedDict()
        self.since = -1  # the latest birth of a forgotten lineage
        self._size = 0  # an upper bound on the bytes in use

    def has(self, lineage: str, number: int) -> bool:
        """Return whether this decision was learned."""
        record = self.lineages.get(lineage)
        bits = None if record is None else record.blocks.get(number // BLOCK)
        byte = number % BLOCK >> 3
        return bits is not None and byte < len(bits) and bool(bits[byte] >> (number & 7) & 1)

    def is_forgotten(self, lineage: str, number: int) -> bool:
        """Return whether this record has forgotten if the decision was learned."""
        record = self.lineages.get(lineage)
        return birth(lineage) <= self.since if record is None else number < record.floor

    def add(self, lineage: str, number: int) -> None:
        """Record that a decision was learned. An interrupt loses nothing, and a second call changes nothing."""
        record = self.lineages.get(lineage)
        if record is None:
            self._size += LINEAGE_COST
            record = self.lineages[lineage] = _Record()
        self.lineages.move_to_end(lineage)  # the last one written to
        bits = record.blocks.get(number // BLOCK)
        if bits is None:
            self._size += BLOCK_COST
            bits = record.blocks[number // BLOCK] = bytearray()
        byte = number % BLOCK >> 3
        if byte >= len(bits):
            longer = min(max(byte + 1, 2 * len(bits)), BLOCK // 8) - len(bits)
            self._size += longer
            bits.extend(bytes(longer))
        bits[byte] |= 1 << (number & 7)
        if self._size > self.room:
            self._forget(self.room // 8 * 7)

    def _forget(self, room: int) -> None:
        """Reduce the size to `room` bytes. Each part is marked as forgotten before it is dropped."""
        size = sum(record.size for record in self.lineages.values())
        blocks = {name: sorted(record.blocks, reverse=True) for name, record in self.lineages.items() if len(record.blocks) > 1}
        largest = [(-len(numbers), name) for name, numbers in blocks.items()]
        heapq.heapify(largest)
        while size > room and largest:
            name = largest[0][1]
            lowest, record = blocks[name].pop(), self.lineages[name]
            record.floor = (lowest + 1) * BLOCK
            size -= BLOCK_COST + len(record.blocks.pop(lowest))
            if len(blocks[name]) > 1:
                heapq.heapreplace(largest, (-len(blocks[name]), name))
            else:
                heapq.heappop(largest)
        while size > room and len(self.lineages) > 1:
            name, record = next(iter(self.lineages.items()))
            self.since = max(self.since, birth(name))
            size -= record.size
            del self.lineages[name]
        self._size = size

    def plain(self) -> dict[str, Any]:
        """Return all but the bits, as plain data; lineages in the order in which they are forgotten."""
        lineages = [
            [name, record.floor, [[block, len(bits)] for block, bits in record.blocks.items()]]
            for name, record in self.lineages.items()
        ]
        return {"since": self.since, "lineages": lineages}

    def packed(self) -> bytes:
        """Return the bits, block by block."""
        return b"".join(bytes(bits) for record in self.lineages.values() for bits in record.blocks.values())

    @classmethod
    def unpacked(cls, plain: Any, packed: bytes) -> Elsewhere:
        """Restore the record from `plain` and `packed`; ValueError if they do not fit."""
        restored, position = cls(), 0
        try:
            since, lineages = plain["since"], plain["lineages"]
            for name, floor, blocks in lineages:
                if not isinstance(name, str) or not 0 < len(name) <= 200 or name in restored.lineages or not _is_count(floor):
                    raise ValueError
                record = restored.lineages[name] = _Record(floor)
                for block, length in blocks:
                    if (
                        not _is_count(block)
                        or block in record.blocks
                        or type(length) is not int
                        or not 0 < length <= BLOCK // 8
                    ):
                        raise ValueError
                    record.blocks[block] = bytearray(packed[position : position + length])
                    position += length
            restored._size = sum(record.size for record in restored.lineages.values())
            if position != len(packed) or type(since) is not int or not -1 <= since <= MOST or restored._size > 2 * ROOM:
                raise ValueError
        except (LookupError, TypeError, ValueError):
            raise ValueError("its record of decisions from elsewhere does not fit") from None
        restored.since = since
        return restored

    def copy(self) -> Elsewhere:
        """Return an independent copy."""
        copied = Elsewhere(room=self.room)
        for name, record in self.lineages.items():
            copied.lineages[name] = _Record(record.floor, {block: bytearray(bits) for block, bits in record.blocks.items()})
        copied.since, copied._size = self.since, self._size
        return copied


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST
