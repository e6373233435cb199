"""An advisor: a full binary tree over 2^depth cells (`engine/kernels/advisor.py`)."""

import numpy as np

from ...types import Floats, Ints
from ..kernels import header as h
from ..kernels.words import advisor as advisor_words
from .member import Kind, Member, aligned_zeros, arm_block
from .sound import CLOSE

DEEPEST = 10  # levels: 1024 cells
MOST_WORDS = 1 << 22  # with many arms it looks less closely
HEAD, ROW = 8, 6  # words before the scratch, words of a row before its arms: as in engine/kernels/advisor.py
CLOCK, VISITS, EVIDENCE, BORN, CHANGED = 2, 2, 3, 4, 5  # likewise
MOST_ROUNDS, MOST_EVIDENCE = 2.0**53, 1e100  # in files


def depth_for(leaves: int, arms: int) -> int:
    """How many halvings of the space an advisor looks at: as many as a structure of so many leaves, within reason."""
    depth = min(DEEPEST, max(0, (leaves - 1).bit_length()))
    while depth > 0 and (2 << depth) * (ROW + 4 * arms) > MOST_WORDS:
        depth -= 1
    return depth


def make_advisor(depth: int, arms: int) -> Member:
    """An advisor that knows nothing, for 2^depth cells."""
    row0 = -(-(HEAD + 5 * arms + 4 * (depth + 1)) // 8) * 8
    stride = ROW + 4 * arms
    end = row0 + (2 << depth) * stride
    top, size, width = arm_block(arms)
    weight = -(-end // 8) * 8
    block = weight + 8
    I = np.zeros(h.HEADER + 1, dtype=np.int64)
    I[h.KIND], I[h.ARMS], I[advisor_words.DEPTH], I[advisor_words.STRIDE], I[advisor_words.ROW0], I[advisor_words.ROWS_END] = (
        h.ADVISOR,
        arms,
        depth,
        stride,
        row0,
        end,
    )
    I[h.TOP], I[h.TOP_SIZE], I[h.WIDTH], I[h.LOGS], I[h.VISITS] = top, size, width, width, 1
    I[h.WEIGHT], I[h.BASES], I[h.PARENT], I[h.HEADER] = weight, h.HEADER, -1, block
    F = aligned_zeros(-(-(block + width + arms) // 8) * 8)
    F[block + width : block + width + arms] = -np.inf  # the logarithms of the arms that are not advised
    return Member(F, I)


class Advisor(Kind):
    """What it learned stands in its rows, and how often it learned before them."""

    def scratch(self, member: Member) -> list[tuple[int, int]]:
        """Words before the rows, the clock apart; and all behind them."""
        I = member.I
        end = int(I[advisor_words.ROWS_END])
        return [(0, 2), (3, int(I[advisor_words.ROW0]) - 3), (end, len(member.F) - end)]

    def scratch_ints(self, member: Member) -> list[tuple[int, int]]:
        return [(advisor_words.ADVICE, 1)]

    def trimmed(self, member: Member) -> Member:
        return Member(member.F[: member.I[advisor_words.ROWS_END]], member.I)

    def fits(self, F: Floats, I: Ints, fresh: Member) -> bool:
        """Of the settings' size."""
        return len(F) == fresh.I[advisor_words.ROWS_END] and np.array_equal(I, fresh.I) and bool(np.isfinite(F).all())

    def take(self, own: Member, F: Floats) -> bool:
        """The clock, and the rows of nodes that were visited (`engine/kernels/advisor.py`)."""
        I, clock = own.I, float(F[CLOCK])
        rows = F[I[advisor_words.ROW0] : I[advisor_words.ROWS_END]].reshape(-1, int(I[advisor_words.STRIDE]))
        seen = rows[:, VISITS] > 0.0
        if not (0.0 <= clock < MOST_ROUNDS and (rows[~seen] == 0.0).all()) or seen[0]:
            return False
        some, visits = rows[seen], rows[seen, VISITS]
        odds, evidence, dates, counts = some[:, :VISITS], some[:, EVIDENCE], some[:, [BORN, CHANGED]], some[:, ROW:]
        possible = (
            (visits < MOST_ROUNDS).all()
            and ((odds >= 0.0) & (odds <= 1.0 + CLOSE)).all()
            and (np.abs(odds.sum(axis=1) - 1.0) <= CLOSE).all()
            and ((evidence >= 1.0) & (evidence <= MOST_EVIDENCE)).all()
            and ((dates >= 0.0) & (dates <= clock + 1.0)).all()
            and ((counts >= 0.0) & (counts <= visits[:, None] * (1.0 + CLOSE))).all()
        )
        own.F[CLOCK] = clock
        own.F[I[advisor_words.ROW0] : I[advisor_words.ROWS_END]] = rows.ravel()
        return bool(possible)

    def pour(self, member: Member, F: Floats, I: Ints) -> None:
        """Everything; of a trimmed one, all that there is."""
        fresh = make_advisor(int(member.I[advisor_words.DEPTH]), int(member.I[h.ARMS])) if len(member.F) < len(F) else member
        F[:], I[:] = fresh.F, member.I
        F[: len(member.F)] = member.F

    def add_arm(self, member: Member) -> Member:
        F, I = member
        wider = make_advisor(int(I[advisor_words.DEPTH]), int(I[h.ARMS]) + 1)
        wider.F[:HEAD] = F[:HEAD]
        old = F[I[advisor_words.ROW0] : I[advisor_words.ROWS_END]].reshape(-1, int(I[advisor_words.STRIDE]))
        new = wider.F[wider.I[advisor_words.ROW0] : wider.I[advisor_words.ROWS_END]].reshape(
            -1, int(wider.I[advisor_words.STRIDE])
        )
        new[:, : old.shape[1]] = old
        wider.I[h.PARENT], wider.I[h.OPTION] = I[h.PARENT], I[h.OPTION]
        return wider


Advisor(h.ADVISOR)
