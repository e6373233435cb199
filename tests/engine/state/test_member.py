"""Members: their layout, copies, and flattened options."""

import numpy as np
import pytest

import hsb
from hsb.engine.kernels import header as h
from hsb.engine.state import make_cells, make_one_of, make_tree, member, member_from_arrays
from hsb.engine.state.member import Layout, arm_block, flatten_options
from hsb.engine.state.views import OptionsView
from hsb.errors import FileError


@pytest.mark.parametrize(
    ("arms", "block"), [(1, (0, 1, 1)), (8, (0, 8, 8)), (9, (16, 2, 18)), (64, (64, 8, 72)), (65, (88, 2, 90))]
)
def test_a_block_has_a_level_for_each_power_of_eight(arms, block):
    assert arm_block(arms) == block


def test_pieces_begin_on_cache_lines_and_do_not_overlap():
    layout = Layout(h.GRAPH, 3, 5)
    layout.floats(20, 3)
    layout.floats(21, 9)
    layout.ints(22, 4)
    layout.ints(23, 1)
    own = layout.make()
    assert own.F.ctypes.data % 64 == 0 and own.I[20] % 8 == own.I[21] % 8 == 0
    assert own.I[21] - own.I[20] == 8 and len(own.F) == own.I[21] + 16
    assert own.I[23] - own.I[22] == 4 and len(own.I) == own.I[23] + 1
    assert own.template.tolist() == [1.0, 1.0, 1.0] and own.parent == -1 and own.arms == 3 and own.number == h.GRAPH


def test_a_member_beyond_two_gigabytes_is_refused(monkeypatch):
    monkeypatch.setattr(member, "MOST_WORDS", 100)
    with pytest.raises(
        hsb.BudgetError, match=r"with 40 arms needs .* GB; the limit is .* Use fewer arms or a smaller structure"
    ):
        make_one_of(3, 40)


def test_a_copy_is_independent_and_a_settled_one_has_no_scratch():
    own = make_cells(2, 3)
    copy = own.copy()
    copy.F[:] = 7.0
    assert not own.F[own.I[h.WEIGHT]] and copy.number == own.number
    own.F[own.I[h.WEIGHT]] = 5.0
    assert own.settled().F[own.I[h.WEIGHT]] == 0.0 and own.F[own.I[h.WEIGHT]] == 5.0


def test_options_are_flattened_as_powers_of_prior_and_weight():
    own = make_one_of(3, 2)
    view, below = OptionsView(own), np.array([[0.1, -0.2, 0.3]])
    view.weights[:] = before = np.array([0.7, 0.2, 0.1])
    prior = np.full(3, 1 / 3)
    expected = prior**0.6 * before**0.4 * np.exp(below[0])
    log_h = flatten_options(own, np.array([view.row]), prior, 0.4, below)
    assert log_h[0] == pytest.approx(np.log(expected.sum()), rel=1e-13)
    assert view.weights == pytest.approx(expected / expected.sum(), rel=1e-13)


def test_arrays_of_another_structure_or_with_impossible_numbers_are_refused():
    fresh = make_tree(2, 3, 2, 0.5)
    with pytest.raises(FileError, match="does not fit its structure"):
        member_from_arrays(*make_tree(2, 4, 2, 0.5), fresh)
    with pytest.raises(FileError, match="does not fit its structure"):
        member_from_arrays(fresh.F.astype(np.float32), fresh.I, fresh)
    wrong = fresh.copy()
    wrong.F[wrong.I[19]] = -1.0  # the root's rate
    with pytest.raises(FileError, match="numbers that no rounds lead to"):
        member_from_arrays(*wrong, fresh)
    assert np.array_equal(member_from_arrays(*fresh, fresh).F, fresh.F)
