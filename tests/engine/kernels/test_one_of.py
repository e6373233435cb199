"""A node whose options are members: the root of OneOf, which may stop, and the head of a mixture, which may not."""

import math

import numpy as np
import pytest
from support.kernel_cases import EVERY, INTERPRETED

from hsb.engine.kernels import header as h
from hsb.engine.kernels import one_of
from hsb.engine.state import make_head, make_one_of
from hsb.engine.state.views import OptionsView

pytestmark = INTERPRETED
F_OF_X = math.exp(-0.5)


def test_a_head_gives_all_its_reach_to_its_options():
    F, I = member = make_head([0.25, 0.75], 3)
    assert one_of.visit(F, I, 0.5) == 0 and F[h.REST] == 0.0
    view = OptionsView(member)
    assert F[view.reach_at : view.reach_at + 2].tolist() == [0.125, 0.375]


def test_a_root_keeps_the_part_of_its_reach_with_which_it_stops():
    F, I = member = make_one_of(4, 3)
    assert one_of.visit(F, I, 1.0) == 1
    view = OptionsView(member)
    assert I[I[h.BASES]] == view.block and F[I[h.WEIGHT]] * 3.0 == pytest.approx(0.25)  # a weight of 1 for each arm
    assert F[view.reach_at + 1 : view.reach_at + 4].tolist() == [0.25] * 3


@pytest.mark.parametrize("slow", [False, True])
def test_options_are_multiplied_by_the_ratios_of_their_members(slow):
    head, root = make_head([0.25, 0.75], 3), make_one_of(2, 3)
    for member, own in ((head, None), (root, (2.0 + F_OF_X) / 3.0)):
        F, I = member
        view = OptionsView(member)
        before, ratios = view.weights.copy(), np.array([0.9 if own is None else own, 0.2])
        one_of.visit(F, I, 1.0)
        F[view.ratio_at : view.ratio_at + 2] = np.log(ratios) if slow else ratios
        total = math.exp(one_of.ratio_log(F, I, 1, 0.5, EVERY, 0.0)) if slow else one_of.ratio(F, I, 1, 0.5, F_OF_X, EVERY, 1.0)
        assert total == pytest.approx(before @ ratios, rel=1e-13)
        assert view.weights == pytest.approx(before * ratios / (before @ ratios), rel=1e-13)


def test_reach_in_logarithms():
    F, I = member = make_one_of(4, 3)
    one_of.visit(F, I, 1.0)
    one_of.log_visit(F, I, math.log(0.5))
    view = OptionsView(member)
    assert [F[I[h.WEIGHT]], *F[view.reach_at + 1 : view.reach_at + 4]] == pytest.approx([math.log(0.125)] * 4, rel=1e-14)


def test_fixed_share_brings_back_an_option_that_had_vanished():
    F, I = member = make_head([0.25, 0.75], 3)
    view = OptionsView(member)
    one_of.visit(F, I, 1.0)
    F[view.ratio_at : view.ratio_at + 2] = [1.0, 2.0**-900]
    one_of.ratio(F, I, 0, 0.5, F_OF_X, EVERY, 1.0)
    assert view.counts[1] > 0.0 and view.flag[0] == 1.0
    one_of.share(F, I, 0.1)
    assert view.weights == pytest.approx([0.9 + 0.1 * 0.25, 0.1 * 0.75], rel=1e-14)
    assert view.counts.tolist() == [0.0, 0.0] and view.flag[0] == 0.0
