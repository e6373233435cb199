"""Which decisions a policy has learned from, so that none counts twice, however late it comes."""

from __future__ import annotations

import uuid

import numpy as np

from .decision import Decision
from .errors import InputError


class Ledger:
    """A policy's own decisions by number, one bit each; those of others by what they carry.

    Every policy has a name of its own (`stream`), which its decisions carry. A copy gets a new name and remembers, for each policy it
    descends from, how many rounds that one had learned and how many decisions it had issued at the parting (`past`).
    """

    def __init__(
        self, issued: int = 0, bits: bytes = b"", stream: str | None = None, past: dict[str, tuple[int, int]] | None = None
    ) -> None:
        self.issued = issued
        self.bits = bytearray(bits)
        self.stream = uuid.uuid4().hex if stream is None else stream
        self.past = {} if past is None else past

    def fork(self, rounds: int) -> Ledger:
        """The ledger of a copy made after `rounds` rounds."""
        return Ledger(self.issued, bytes(self.bits), past={**self.past, self.stream: (rounds, self.issued)})

    def issue(self) -> int:
        """The number of a new decision, and room for its bit."""
        number = self.issued
        self.issued = number + 1
        if number >> 3 >= len(self.bits):
            self.bits.extend(bytes(64 + len(self.bits) // 4))
        return number

    def check(self, decision: Decision) -> bool:
        """Refuse what was learned before; tell whether the decision is the policy's own, known by its number."""
        number, source = decision.id, decision._stream
        if source is self.stream and type(number) is int and 0 <= number < self.issued and not self._bit(number):
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
            twice = any(who == self.stream or when <= self.past.get(who, (-1, 0))[0] for who, when in decision._taught)
        if twice:
            raise InputError(f"{decision!r} was learned from already. Each decision counts once; this feedback was not used.")
        return own

    def _bit(self, number: int) -> bool:
        return bool(self.bits[number >> 3] >> (number & 7) & 1)

    def close(self, decision: Decision, rounds: int, *, own: bool) -> None:
        """It was learned from, as the policy's round number `rounds`."""
        decision._taught += ((self.stream, rounds),)
        if own and decision.id is not None:
            number = int(decision.id)
            self.bits[number >> 3] |= 1 << (number & 7)
