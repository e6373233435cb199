"""A hierarchy of the user's own."""

import pytest

import hsb

AGES = {"all": {"leaves": [0, 1, 2], "groups": [["young", "old"]]}, "young": {"leaves": [0]}, "old": {"leaves": [1, 2]}}


def test_nodes_have_their_leaves_and_groups():
    ages = hsb.Hierarchy(AGES)
    assert list(ages.leaves_of("old")) == [1, 2] and ages.groups("young") == []
    assert [list(group) for group in ages.groups("all")] == [["young", "old"]] and ages.leaves == 3


def test_it_comes_back_from_plain_data():
    ages = hsb.Hierarchy(AGES)
    assert hsb.Structure.from_dict(ages.to_dict()) == ages


@pytest.mark.parametrize(
    "change",
    [
        {"old": {"leaves": [1]}},  # a leaf is lost
        {"old": {"leaves": [0, 1, 2]}},  # a leaf is in both
        {"all": {"leaves": [0, 1, 2], "groups": [["young", "nobody"]]}},
        {"young": {"leaves": [0], "groups": [["all"]]}},  # below itself
    ],
)
def test_what_is_no_hierarchy_is_refused(change):
    with pytest.raises(hsb.InputError):
        hsb.Hierarchy(AGES | change, root="all")
