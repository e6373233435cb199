"""Structures as plain data, and typed in again."""

import json

import pytest
from support.structures import EXAMPLES, each

import hsb
from hsb.structures import from_dict, from_json


@pytest.mark.nojit
@each
def test_dict_and_json_round_trips(structure):
    data = structure.to_dict()
    for again in (from_dict(data), from_json(structure.to_json()), from_dict(json.loads(json.dumps(data)))):
        assert type(again) is type(structure)
        assert again == structure and hash(again) == hash(structure)
        assert again.to_dict() == data
        assert repr(again) == repr(structure)
        same = ("leaves", "max_group", "max_groups", "cost", "features")
        assert all(getattr(again, name) == getattr(structure, name) for name in same)
        assert again.splits(3, 2) == structure.splits(3, 2)
    assert data == structure.to_dict()  # reading it changed nothing


@each
def test_repr_can_be_typed_in(structure):
    if "clip" not in repr(structure.space):
        assert eval(repr(structure), vars(hsb)) == structure


@pytest.mark.nojit
def test_structures_that_differ_are_not_equal():
    different = list(EXAMPLES.values())
    for i, one in enumerate(different):
        assert all(one != other for other in different[i + 1 :])
    assert hsb.BinaryTree(depth=3) != hsb.BinaryTree(depth=3, space=hsb.Box(0, 2))
    assert hsb.BinaryTree(depth=3) != "BinaryTree(depth=3)"
