"""An advisor: a full binary tree over 2^depth cells (`engine/kernels/advisor.py`)."""

import numpy as np

from ...types import Floats, Ints
from ..kernels import header as h
from ..kernels.words import advisor as advisor_words
from ..kernels.words.advisor import BORN, CHANGED, CLOCK, COUNTS, EVIDENCE, EXPECTED, SCRATCH, VISITS
from .member import Kind, Member, aligned_zeros, arm_block, hung_as
from .sound import CLOSE
from .views import AdvisorView

DEEPEST = 10  # levels: 1024 cells
MOST_WORDS = 1 << 22  # with many arms the tree is less deep
MOST_ROUNDS, MOST_EVIDENCE = 2.0**53, 1e100  # in files


def depth_for(leaves: int, arms: int) -> int:
    """Return the depth of an advisor beside a structure with `leaves` leaves: that of the structure, at most DEEPEST."""
    depth = min(DEEPEST, max(0, (leaves - 1).bit_length()))
    while depth > 0 and (2 << depth) * (COUNTS + 4 * arms) > MOST_WORDS:
        depth -= 1
    return depth


def make_advisor(depth: int, arms: int) -> Member:
    """Make an advisor without updates, for 2^depth cells."""
    row0 = -(-(SCRATCH + 5 * arms + 4 * (depth + 1)) // 8) * 8
    stride = COUNTS + 4 * arms
    end = row0 + (2 << depth) * stride
    top, size, width = arm_block(arms)
    weight = -(-end // 8) * 8
    block = weight + 8
    I = np.zeros(h.HEADER + 1, dtype=np.int64)
    I[h.KIND], I[h.ARMS] = h.ADVISOR, arms
    I[advisor_words.DEPTH], I[advisor_words.STRIDE] = depth, stride
    I[advisor_words.ROW0], I[advisor_words.ROWS_END] = row0, end
    I[h.TOP], I[h.TOP_SIZE], I[h.WIDTH], I[h.LOGS], I[h.VISITS] = top, size, width, width, 1
    I[h.WEIGHT], I[h.BASES], I[h.PARENT], I[h.HEADER] = weight, h.HEADER, -1, block
    memory = EXPECTED + 3 * arms
    memory = (2 << depth) * memory + arms if arms > h.FEW else (depth + 1) * memory
    F = aligned_zeros(-(-(block + width + arms + memory) // 8) * 8)
    F[block + width : block + width + arms] = -np.inf  # the logarithms of arms without advice
    return Member(F, I)


class Advisor(Kind):
    """Advisors: rows with what was learned, after the clock with the number of updates."""

    def scratch(self, member: Member) -> list[tuple[int, int]]:
        """Return the words before the rows, without the clock, and all words after them."""
        advisor = AdvisorView(member)
        return [(0, CLOCK), (CLOCK + 1, advisor.row0 - CLOCK - 1), (advisor.end, len(member.F) - advisor.end)]

    def scratch_ints(self, member: Member) -> list[tuple[int, int]]:
        return [(advisor_words.ADVICE, 1)]

    def trimmed(self, member: Member) -> Member:
        return Member(member.F[: AdvisorView(member).end], member.I)

    def fits(self, F: Floats, I: Ints, fresh: Member) -> bool:
        """Return whether the arrays have the size and the integers of the settings, and finite numbers."""
        return len(F) == AdvisorView(fresh).end and np.array_equal(I, fresh.I) and bool(np.isfinite(F).all())

    def take(self, own: Member, F: Floats) -> bool:
        """Take the clock and the rows of visited nodes (`engine/kernels/advisor.py`)."""
        stored = AdvisorView(Member(F, own.I))
        clock, rows = stored.clock, stored.rows
        seen = rows[:, VISITS] > 0.0
        if not (0.0 <= clock < MOST_ROUNDS and (rows[~seen] == 0.0).all()) or seen[0]:
            return False
        some, visits = rows[seen], rows[seen, VISITS]
        odds, evidence, dates, counts = some[:, :VISITS], some[:, EVIDENCE], some[:, [BORN, CHANGED]], some[:, COUNTS:]
        possible = (
            (visits < MOST_ROUNDS).all()
            and ((odds >= 0.0) & (odds <= 1.0 + CLOSE)).all()
            and (np.abs(odds.sum(axis=1) - 1.0) <= CLOSE).all()
            and ((evidence >= 1.0) & (evidence <= MOST_EVIDENCE)).all()
            and ((dates >= 0.0) & (dates <= clock + 1.0)).all()
            and ((counts >= 0.0) & (counts <= visits[:, None] * (1.0 + CLOSE))).all()
        )
        own.F[CLOCK] = clock
        AdvisorView(own).rows[:] = rows
        return bool(possible)

    def pour(self, member: Member, F: Floats, I: Ints) -> None:
        """Copy everything; of a trimmed member, its words."""
        fresh = make_advisor(AdvisorView(member).depth, member.arms) if len(member.F) < len(F) else member
        F[:], I[:] = fresh.F, member.I
        F[: len(member.F)] = member.F

    def add_arm(self, member: Member) -> Member:
        before = AdvisorView(member)
        wider = make_advisor(before.depth, member.arms + 1)
        wider.F[:SCRATCH] = member.F[:SCRATCH]
        AdvisorView(wider).rows[:, : before.stride] = before.rows
        return hung_as(member, wider)


Advisor(h.ADVISOR)
