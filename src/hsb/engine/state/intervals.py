"""Every interval of the leaves (`engine/kernels/intervals.py`)."""

import math
from collections.abc import Sequence

import numpy as np

from ... import reproducible_math
from ...errors import BudgetError
from ...types import Floats, Ints
from ..kernels import header as h
from ..kernels.words import intervals as interval_words
from .member import Kind, Layout, Member, Walk, arm_block, fill_blocks, flatten_blocks
from .sound import CLOSE, are_counts, take_blocks
from .views import IntervalsView

RANGE = 700.0  # leaves * ln(arms): beyond, w overflows a double


def unit_for(arms: int) -> float:
    """Return the scale of a leaf: 1 / sqrt(arms), by operations whose rounding IEEE arithmetic defines."""
    return 1.0 / math.sqrt(arms)


def make_intervals(leaves: int, groups: int, arms: int, counts: Sequence[float] | Floats, unit: float | None = None) -> Member:
    """Make all intervals of `leaves`; counts[L] = 1 / (child groups of an interval of length L, plus 1)."""
    if leaves * reproducible_math.ln(max(arms, 2)) > RANGE:
        raise BudgetError(
            f"{leaves} leaves with {arms} arms: the interval structures need leaves * ln(arms) <= {RANGE:.0f}, "
            f"here it is {leaves * reproducible_math.ln(max(arms, 2)):.0f}. Use fewer leaves, or hsb.BinaryTree, which has no such limit."
        )
    square = leaves * leaves
    layout = Layout(h.INTERVALS, arms, (leaves + 1) // 2 * (leaves // 2 + 1), scratch=2)
    layout.header |= {interval_words.LEAVES: leaves, interval_words.GROUPS: groups}
    layout.floats(interval_words.SIGMA, square)
    layout.floats(interval_words.SIGMA_E, square)
    layout.floats(interval_words.TABLE, 2 * square * (groups - 1))
    layout.floats(interval_words.ADJOINT, 2 * square * (groups - 1) + square)
    layout.floats(interval_words.ARM0, square * (arm_block(arms)[2] + arms))
    layout.floats(interval_words.COUNTS, leaves + 1)
    layout.floats(interval_words.UNIT, 1)
    layout.afford(arms)
    member = layout.make()
    own = IntervalsView(member)
    own.counts[:] = counts
    member.F[own.unit_at] = unit = unit_for(arms) if unit is None else unit
    length = np.arange(leaves)[None, :] - np.arange(leaves)[:, None] + 1
    powers = np.array([reproducible_math.whole_power(float(unit), n) for n in range(int(length.max()) + 1)])
    own.sigma[:] = (np.where(length > 0, powers[np.maximum(length, 0)], 1.0) / arms).ravel()
    fill_blocks(member)
    from ..kernels import intervals

    intervals.fill(*member)
    return member


class Intervals(Kind):
    """Intervals that split into two or more parts."""

    def blocks(self, member: Member) -> Ints:
        own = IntervalsView(member)
        first, last = np.triu_indices(own.leaves)
        return np.asarray(own.arm0 + own.block * (first * own.leaves + last))

    def scratch(self, member: Member) -> list[tuple[int, int]]:
        own = IntervalsView(member)
        return [*super().scratch(member), (own.adjoint_at, (2 * own.groups - 1) * own.square)]

    def take(self, own: Member, F: Floats) -> bool:
        """Take masses and arms of every interval; the tables must follow from them, up to rounding."""
        from ..kernels import intervals

        mine, stored = IntervalsView(own), IntervalsView(Member(F, own.I))
        N, unit = mine.leaves, stored.unit
        first, last = np.triu_indices(N)
        pairs, length = first * N + last, last - first + 1
        rate, count = stored.sigma[pairs], stored.sigma_e[pairs]
        totals = take_blocks(own, F, self.blocks(own))
        if totals is None or not (are_counts(count) & (rate > 0.0)).all():
            return False
        if not any(unit == unit_for(arms) for arms in range(1, own.arms + 1)):  # as many as there were at first
            return False
        own.F[mine.unit_at] = unit
        mine.tables[:2, pairs[length == 1]] = unit
        if not ((stored.sigma > 0.0) & np.isfinite(stored.sigma)).all():
            return False
        mine.sigma[:] = stored.sigma
        logs = np.log(rate * totals)
        leaf = (length == 1) & ~((count == 0.0) & (np.abs(logs - math.log(unit)) <= CLOSE))
        if leaf.any() or not (np.abs(logs) <= RANGE).all():
            return False
        mine.sigma_e[pairs] = count
        intervals.refill(*own)
        for each, indices in ((slice(0, None, 2), pairs), (slice(1, None, 2), last * N + first)):  # a table, its transpose
            due, there = mine.tables[each, indices], stored.tables[each, indices]
            if not (np.isfinite(due) & (np.abs(there - due) <= CLOSE * due)).all():
                return False
            mine.tables[each, indices] = there
        return True

    def flatten(self, member: Member, r: float, below: dict[int, float], walk: Walk | None) -> float:
        """Set the masses to S^r times A, each over those of its leaves; then recompute every table. O(K N^3)."""
        from ..kernels import intervals

        own = IntervalsView(member)
        N, log_unit, blocks = own.leaves, reproducible_math.ln(own.unit), self.blocks(member)
        first, last = np.triu_indices(N)
        pairs = first * N + last
        masses, scale = np.empty(len(pairs)), (last - first + 1.0) * log_unit
        intervals.log_masses(*member, pairs, masses)
        A = flatten_blocks(member, blocks, r)
        leaves = np.concatenate([[0.0], np.cumsum(A[first == last])])
        intervals.set_masses(*member, pairs, r * masses + (1.0 - r) * scale + A - (leaves[last + 1] - leaves[first]))
        before = reproducible_math.ln(own.whole)
        intervals.refill(*member)
        return reproducible_math.ln(own.whole) - r * before + float(leaves[-1]) - (1.0 - r) * N * log_unit

    def widened(self, member: Member) -> Member:
        before = IntervalsView(member)
        wider = make_intervals(before.leaves, before.groups, member.arms + 1, before.counts, unit=before.unit)
        after = IntervalsView(wider)
        after.sigma[:], after.sigma_e[:], after.tables[:] = before.sigma, before.sigma_e, before.tables
        return wider

    def rates(self, member: Member, wider: Member, offsets: Ints) -> Ints:
        after = IntervalsView(wider)
        return np.asarray(after.sigma_at + (offsets - after.arm0) // after.block)


Intervals(h.INTERVALS)
