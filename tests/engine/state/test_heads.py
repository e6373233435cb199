"""Nodes over members: their priors, options added later, and links."""

import numpy as np
import pytest

from hsb.engine.kernels import header as h
from hsb.engine.state import add_options, hang, make_cells, make_head, make_one_of, member_from_arrays
from hsb.engine.state.views import OptionsView
from hsb.errors import FileError


def test_added_options_share_the_weight_of_their_source():
    head = make_head([0.5, 0.5], 2)
    OptionsView(head).weights[:] = [0.8, 0.2]
    after = OptionsView(add_options(head, 1, [0.5, 0.25]))
    assert after.weights == pytest.approx([0.8, 0.075, 0.1, 0.025]) and after.prior == pytest.approx(
        [0.5, 0.1875, 0.25, 0.0625]
    )
    assert OptionsView(head).weights.tolist() == [0.8, 0.2]


def test_an_added_option_is_as_hidden_as_its_source():
    head = make_head([0.5, 0.5], 2)
    view = OptionsView(head)
    view.flag[0], view.weights[:], view.counts[:] = 1.0, [1.0, 0.5], [0.0, 3.0]
    after = OptionsView(add_options(head, 1, [0.5]))
    assert after.counts.tolist() == [0.0, 3.0, 3.0] and after.flag[0] == 1.0


def test_members_hang_below_an_option_and_their_own_below_them():
    root, child = make_one_of(2, 2), make_cells(1, 2)
    child.I[h.PARENT], child.I[h.OPTION] = 0, 1
    hang([root, child], option=3, offset=5)
    assert (root.parent, root.option, child.parent, child.option) == (0, 3, 5, 1)


@pytest.mark.parametrize(
    "make", [lambda arms: make_head([0.25, 0.75], arms), lambda arms: make_one_of(2, arms)], ids=["head", "root"]
)
def test_a_new_arm_leaves_the_options_as_they_are(make):
    member = make(3)
    OptionsView(member).weights[:] = [0.9, 0.1]
    wider = member.kind.add_arm(member)
    assert wider.arms == 4 and OptionsView(wider).weights.tolist() == [0.9, 0.1]
    assert wider.number == member.number and len(wider.kind.blocks(wider)) == (member.number == h.ONE_OF)


def test_a_head_of_another_prior_is_refused():
    with pytest.raises(FileError, match="does not fit its structure"):
        member_from_arrays(*make_head([0.3, 0.7], 2), make_head([0.25, 0.75], 2))
    OptionsView(head := make_head([0.25, 0.75], 2)).weights[:] = [0.9, 0.1]
    assert OptionsView(member_from_arrays(*head, make_head([0.25, 0.75], 2))).weights.tolist() == [0.9, 0.1]
    OptionsView(head).weights[:] = [0.9, 0.3]
    with pytest.raises(FileError, match="no rounds lead to"):
        member_from_arrays(*head, make_head([0.25, 0.75], 2))


def test_a_flattened_head_is_a_power_of_its_weights():
    head = make_head([0.25, 0.75], 2)
    view = OptionsView(head)
    view.weights[:] = [0.9, 0.1]
    expected = np.array([0.25, 0.75]) ** 0.5 * np.array([0.9, 0.1]) ** 0.5 * np.exp([0.2, -0.1])
    assert head.kind.flatten(head, 0.5, {0: 0.2, 1: -0.1}, None) == pytest.approx(np.log(expected.sum()), rel=1e-13)
    assert view.weights == pytest.approx(expected / expected.sum(), rel=1e-13)
