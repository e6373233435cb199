"""Candidates that take numbers, on contexts with names."""

import pytest

import hsb
from hsb.serve.core.encoding import available_kinds, check_fits, fitted, needs_encoding

HEAD = [{"age": 20 + k, "device": ["phone", "desk"][k % 2]} for k in range(40)]


@pytest.mark.parametrize("kind", ["LinUCB", "SExp3", "TreeThompson"])
def test_what_takes_numbers_is_given_an_encoding(kind):
    assert needs_encoding({"kind": kind})
    result = fitted({"kind": kind}, HEAD)
    assert result["kind"] == kind and result["encoding"]


@pytest.mark.parametrize("spec", [{"kind": "Exp3"}, {"kind": "HSB"}, {"arm": "a"}, {"kind": "Nothing"}])
def test_what_takes_anything_is_left_alone(spec):
    assert not needs_encoding(spec)


def test_a_policy_that_cannot_decide_on_a_context_is_refused():
    with pytest.raises(hsb.InputError, match="the candidate"):
        check_fits(hsb.LinUCB(arms=["a", "b"], features=1), [{"age": 3}], "the candidate")
    check_fits(hsb.Exp3(arms=["a", "b"], learning_rate=0.1), [{"age": 3}], "the candidate")


def test_forms_offer_less_where_propensities_must_be_exact():
    assert set(available_kinds(True)) < set(available_kinds(False)) | set(available_kinds(True)) and "HSB" in available_kinds(
        True
    )
