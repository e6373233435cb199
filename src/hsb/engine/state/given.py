"""Advice from outside the state: the key names the advised arm (`engine/kernels/advice.put_given`). Nothing is learned here."""

import numpy as np

from ...types import Floats
from ..kernels import header as h
from ..kernels.words.advice import ADVICE
from .member import Kind, Member, aligned_zeros, arm_block, hung_as


def make_given(arms: int) -> Member:
    """Make a member that plays the arm that its first key word names."""
    top, size, width = arm_block(arms)
    block = 16
    I = np.zeros(h.HEADER + 1, dtype=np.int64)
    I[h.KIND], I[h.ARMS], I[h.PARENT], I[h.VISITS] = h.GIVEN, arms, -1, 1
    I[h.TOP], I[h.TOP_SIZE], I[h.WIDTH], I[h.LOGS] = top, size, width, width
    I[h.WEIGHT], I[h.BASES], I[h.HEADER] = 8, h.HEADER, block
    F = aligned_zeros(-(-(block + width + arms) // 8) * 8)
    F[block + width : block + width + arms] = -np.inf  # the logarithms of arms without advice
    return Member(F, I)


class Given(Kind):
    """Given advice: everything but its size is scratch."""

    def scratch(self, member: Member) -> list[tuple[int, int]]:
        return [(0, 8), (int(member.I[h.WEIGHT]), 2), (int(member.I[h.HEADER]), member.width)]

    def scratch_ints(self, member: Member) -> list[tuple[int, int]]:
        return [(ADVICE, 1)]

    def take(self, own: Member, F: Floats) -> bool:
        return True

    def add_arm(self, member: Member) -> Member:
        return hung_as(member, make_given(member.arms + 1))


Given(h.GIVEN)
