"""The kinds of features that can be declared."""

import pytest

import hsb
from hsb.features.kinds import Category, Cycle, FeatureKind, Flag, Number, Tags, Time

KINDS = [Number(), Category(), Category(limit=3), Cycle(24), Flag(), Tags(), Tags(limit=9), Time()]


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_a_kind_comes_back_from_plain_data(kind):
    assert FeatureKind.from_dict(kind.to_dict()) == kind


def test_kinds_are_values():
    assert Cycle(24) == Cycle(24.0) != Cycle(12) and len({Number(), Number(), Flag()}) == 2
    with pytest.raises(AttributeError):
        Cycle(24).period = 7


@pytest.mark.parametrize(
    "make",
    [lambda: Cycle(0), lambda: Cycle(-1), lambda: Cycle(float("nan")), lambda: Category(limit=0), lambda: Tags(limit="many")],
)
def test_what_cannot_be_is_refused(make):
    with pytest.raises(hsb.InputError):
        make()


@pytest.mark.parametrize("data", [{}, {"kind": "colour"}, None, {"kind": "cycle"}, 3])
def test_what_is_no_kind_is_refused(data):
    with pytest.raises(hsb.InputError):
        FeatureKind.from_dict(data)
