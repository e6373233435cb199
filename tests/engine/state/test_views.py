"""Views of members: tables are the member's own memory, in their shapes."""

import numpy as np
import pytest

import hsb
from hsb.engine.kernels.words import ensemble as ensemble_words
from hsb.engine.state import make_advisor, make_ensemble, make_head, make_tree
from hsb.engine.state.views import AdvisorView, EnsembleView, GraphView, IntervalsView, OptionsView, TreeView


def own(structure):
    (member,) = structure.members(3, None)
    return member


CASES = {
    "tree": (make_tree(2, 3, 3, 0.5), TreeView, {"rows": (15, 8), "go": (4,), "stay": (4,)}),
    "intervals": (
        own(hsb.GroupedLexicographic(leaves=4, groups=3)),
        IntervalsView,
        {"sigma": (16,), "tables": (4, 16), "counts": (5,)},
    ),
    "graph": (own(hsb.ArbitrarySplits(leaves=3)), GraphView, {"spec": (1,), "nodes": (8,)}),
    "options": (make_head([0.5, 0.25, 0.25], 3), OptionsView, {"flag": (1,), "weights": (3,), "counts": (3,), "prior": (3,)}),
    "advisor": (make_advisor(2, 3), AdvisorView, {"rows": (8, 18)}),
}


@pytest.mark.parametrize(("member", "view", "tables"), CASES.values(), ids=CASES)
def test_tables_are_memory_of_the_member(member, view, tables):
    of = view(member)
    for name, shape in tables.items():
        table = getattr(of, name)
        assert table.shape == shape, name
        assert np.shares_memory(table, member.F) or np.shares_memory(table, member.I)


def test_tables_of_a_member_do_not_overlap():
    for member, view, tables in CASES.values():
        of = view(member)
        parts = [getattr(of, name) for name in tables]
        assert not any(np.shares_memory(a, b) for k, a in enumerate(parts) for b in parts[:k])


def test_an_ensemble_says_how_much_of_its_room_is_in_use():
    view = EnsembleView(make_ensemble(16, 3))
    assert (view.room, view.columns, view.arms) == (16, 1, 3)
    assert view.nodes_used == view.blocks_used == ensemble_words.TREES <= view.blocks < view.nodes
    assert view.node0 < view.block0


def test_an_advisor_has_a_clock():
    member = make_advisor(2, 3)
    member.F[2] = 5.0
    assert AdvisorView(member).clock == 5.0
