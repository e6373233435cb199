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

RANGE = 700.0  # leaves * ln(arms): beyond, w leaves the range of a double


def make_intervals(leaves: int, groups: int, arms: int, counts: Sequence[float] | Floats, unit: float | None = None) -> Member:
    """All intervals of `leaves`; counts[L] = 1 / (child groups of an interval of length L, plus 1)."""
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
    F, I = member = layout.make()
    F[I[interval_words.COUNTS] : I[interval_words.COUNTS] + leaves + 1] = counts
    F[I[interval_words.UNIT]] = unit = arms**-0.5 if unit is None else unit
    length = np.arange(leaves)[None, :] - np.arange(leaves)[:, None] + 1
    F[I[interval_words.SIGMA] : I[interval_words.SIGMA] + square] = (
        np.where(length > 0, float(unit) ** np.maximum(length, 1), 1.0) / arms
    ).ravel()
    fill_blocks(member)
    from ..kernels import intervals

    intervals.fill(F, I)
    return member


class Intervals(Kind):
    """One kind for two parts and for more."""

    def blocks(self, member: Member) -> Ints:
        I = member.I
        first, last = np.triu_indices(I[interval_words.LEAVES])
        return np.asarray(I[interval_words.ARM0] + (I[h.WIDTH] + I[h.ARMS]) * (first * I[interval_words.LEAVES] + last))

    def scratch(self, member: Member) -> list[tuple[int, int]]:
        I = member.I
        return [
            *super().scratch(member),
            (int(I[interval_words.ADJOINT]), int((2 * I[interval_words.GROUPS] - 1) * I[interval_words.LEAVES] ** 2)),
        ]

    def take(self, own: Member, F: Floats) -> bool:
        """Masses and arms of every interval; the tables must be those that follow from them, up to rounding."""
        from ..kernels import intervals

        I, N = own.I, int(own.I[interval_words.LEAVES])
        first, last = np.triu_indices(N)
        at, length = first * N + last, last - first + 1
        rate, count = F[I[interval_words.SIGMA] + at], F[I[interval_words.SIGMA_E] + at]
        totals = take_blocks(own, F, self.blocks(own))
        if totals is None or not (are_counts(count) & (rate > 0.0)).all():
            return False
        unit, square = (
            float(F[I[interval_words.UNIT]]),
            slice(int(I[interval_words.SIGMA]), int(I[interval_words.SIGMA]) + N * N),
        )
        if not any(unit == arms**-0.5 for arms in range(1, int(I[h.ARMS]) + 1)):  # as many as there were at first
            return False
        (
            own.F[I[interval_words.UNIT]],
            own.F[I[interval_words.TABLE] + at[length == 1]],
            own.F[I[interval_words.TABLE] + N * N + at[length == 1]],
        ) = unit, unit, unit
        if not ((F[square] > 0.0) & np.isfinite(F[square])).all():
            return False
        own.F[square] = F[square]
        logs = np.log(rate * totals)
        leaf = (length == 1) & ~((count == 0.0) & (np.abs(logs - math.log(unit)) <= CLOSE))
        if leaf.any() or not (np.abs(logs) <= RANGE).all():
            return False
        own.F[I[interval_words.SIGMA_E] + at] = count
        intervals.refill(*own)
        tables = 2 * (int(I[interval_words.GROUPS]) - 1)
        places = np.concatenate(
            [I[interval_words.TABLE] + t * N * N + (last * N + first if t % 2 else at) for t in range(tables)]
        )
        due, given = own.F[places], F[places]
        if not (np.isfinite(due) & (np.abs(given - due) <= CLOSE * due)).all():
            return False
        own.F[places] = given
        return True

    def flatten(self, member: Member, r: float, below: dict[int, float], walk: Walk | None) -> float:
        """The masses themselves, S to the power r times A, each over those of its leaves; then every table anew. O(K N^3)."""
        from ..kernels import intervals

        F, I = member
        N, unit, blocks = int(I[interval_words.LEAVES]), float(F[I[interval_words.UNIT]]), self.blocks(member)
        first, last = np.triu_indices(N)
        at = first * N + last
        masses, scale = np.empty(len(at)), (last - first + 1.0) * reproducible_math.ln(unit)
        intervals.log_masses(F, I, at, masses)
        A = flatten_blocks(member, blocks, r)
        leaves = np.concatenate([[0.0], np.cumsum(A[first == last])])
        intervals.set_masses(F, I, at, r * masses + (1.0 - r) * scale + A - (leaves[last + 1] - leaves[first]))
        before = reproducible_math.ln(F[I[interval_words.TABLE] + N - 1])
        intervals.refill(F, I)
        return (
            reproducible_math.ln(F[I[interval_words.TABLE] + N - 1])
            - r * before
            + float(leaves[-1])
            - (1.0 - r) * N * reproducible_math.ln(unit)
        )

    def widened(self, member: Member) -> Member:
        F, I = member
        leaves, groups = int(I[interval_words.LEAVES]), int(I[interval_words.GROUPS])
        counts = F[I[interval_words.COUNTS] : I[interval_words.COUNTS] + leaves + 1]
        wider = make_intervals(leaves, groups, int(I[h.ARMS]) + 1, counts, unit=float(F[I[interval_words.UNIT]]))
        for table, squares in (
            (interval_words.SIGMA, 1),
            (interval_words.SIGMA_E, 1),
            (interval_words.TABLE, 2 * (groups - 1)),
        ):
            words = squares * leaves * leaves
            wider.F[wider.I[table] : wider.I[table] + words] = F[I[table] : I[table] + words]
        return wider

    def rates(self, member: Member, wider: Member, places: Ints) -> Ints:
        I = wider.I
        return np.asarray(I[interval_words.SIGMA] + (places - I[interval_words.ARM0]) // (I[h.WIDTH] + I[h.ARMS]))


Intervals(h.INTERVALS)
