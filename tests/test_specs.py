"""Problems, structures and policies from plain data; that settings files say it is tested in experiments/test_spec.py."""

import pytest

import hsb
from hsb import specs


def test_a_structure_lies_over_the_contexts_of_its_problem():
    problem = specs.make_problem({"name": "two-features"})
    result = specs.structure({"kind": "BinaryTree", "depth": 3}, problem)
    assert result.space == problem.space and result.leaves == 8


def test_a_policy_is_made_anew_for_each_seed():
    problem = specs.make_problem({"name": "smooth", "arms": 4})
    make = specs.policy_spec({"policy": "Exp3", "horizon": 100}, problem, 100)
    one, other = make(1), make(2)
    assert isinstance(one, hsb.Exp3) and len(one.arms) == 4
    assert [one.decide(0.5).arm for _ in range(40)] != [other.decide(0.5).arm for _ in range(40)]


@pytest.mark.parametrize(
    ("given", "message"), [({}, "name: is missing"), ({"name": "nowhere"}, "nowhere"), ({"name": "smooth", "arm": 3}, "arm")]
)
def test_an_error_names_the_key(given, message):
    with pytest.raises(hsb.InputError, match=message):
        specs.make_problem(given)


def test_only_classes_of_the_right_kind_are_imported():
    with pytest.raises(hsb.InputError):
        specs.make_problem({"name": "os:system"})
