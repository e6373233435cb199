"""An explanation as the user holds it."""

import json

import numpy as np
import pytest

import hsb


@pytest.fixture(scope="module")
def found():
    policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b"], seed=0)
    contexts = np.random.default_rng(0).random(5000)
    losses = np.column_stack([contexts > 0.5, contexts <= 0.5]).astype(float)
    hsb.simulate(policy, contexts, losses)
    return policy.explain()


def test_each_context_lies_in_one_region(found):
    for x in (0.0, 0.3, 0.5, 0.99, 1.0):
        assert found.region_at(x).arm == found.arm_at(x)
    assert (found.arm_at(0.2), found.arm_at(0.8)) == ("a", "b")
    with pytest.raises(hsb.InputError):
        found.region_at(2.0)


def test_it_is_plain_data(found):
    data = json.loads(json.dumps(found.to_dict()))
    assert data and len(found.to_frame()) == len(found.rules)


def test_rules_are_joined_neighbours(found):
    assert len(found.rules) <= len(found.regions)
    assert [rule.arm for rule in found.rules].count("a") == 1


def test_it_is_read_as_text_and_as_a_page(found):
    assert "'a'" in str(found) and "<table" in found._repr_html_()
