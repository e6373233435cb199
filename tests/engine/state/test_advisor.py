"""Advisors as members: how deep, arms that come later, and files."""

import numpy as np
import pytest

from hsb.engine.kernels.words.advisor import BORN, CLOCK, COUNTS, EVIDENCE, STOP, VISITS
from hsb.engine.state import State, advisor, depth_for, make_advisor, make_head, member_from_arrays
from hsb.engine.state.heads import hang
from hsb.engine.state.views import AdvisorView
from hsb.errors import FileError

FRESH = hang([make_advisor(3, 3)], 0, 0)[0]


def taught(arms=3):
    """Return an advisor below a head, after some rounds."""
    members = [make_head([1.0], arms), *hang([make_advisor(3, arms)], 0, 0)]
    state, rng = State(members, [0, 1]), np.random.default_rng(0)
    for _ in range(40):
        state.update(np.array([int(rng.integers(8))]), None, int(rng.integers(arms)), float(rng.random()), 0.5)
    return state.member(1)


def test_it_is_as_deep_as_the_structure_up_to_a_limit():
    assert [depth_for(leaves, 2) for leaves in (1, 2, 5, 8, 1024, 10**6)] == [0, 1, 3, 3, 10, 10]
    arms = 3000
    depth = depth_for(10**6, arms)
    assert (2 << depth) * (COUNTS + 4 * arms) <= advisor.MOST_WORDS < (4 << depth) * (COUNTS + 4 * arms)


def test_a_new_arm_leaves_what_was_learned():
    member = taught()
    wider = member.kind.add_arm(member)
    before, after = AdvisorView(member), AdvisorView(wider)
    assert np.array_equal(after.rows[:, : before.stride], before.rows) and not after.rows[:, before.stride :].any()
    assert after.clock == before.clock == 40.0 and (wider.parent, wider.option) == (0, 0)


def test_it_comes_back_from_its_trimmed_arrays():
    member = taught()
    F, I = member.settled()
    assert len(F) == AdvisorView(member).end < len(member.F)
    again = member_from_arrays(F, I, FRESH).settled()
    assert np.array_equal(again.F, F) and np.array_equal(again.I, I)


@pytest.mark.parametrize(
    ("word", "value"), [(STOP, 0.9), (VISITS, -1.0), (EVIDENCE, 0.5), (BORN, 99.0), (COUNTS, 50.0), (COUNTS, -0.1)]
)
def test_rows_that_no_rounds_lead_to_are_refused(word, value):
    member = taught()
    F, I = member.settled()
    F[AdvisorView(member).row0 + AdvisorView(member).stride + word] = value  # the root's
    with pytest.raises(FileError, match="no rounds lead to"):
        member_from_arrays(F, I, FRESH)
    F[CLOCK] = np.nan
    with pytest.raises(FileError, match="does not fit"):
        member_from_arrays(F, I, FRESH)
