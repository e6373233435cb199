"""What a user may give as a context."""

import numpy as np
import pytest

import hsb
from hsb.features.contexts import ALONE, MOST, NAMED, ROW, check_count, open_context


@pytest.mark.parametrize(
    ("context", "form"),
    [({"age": 3}, NAMED), ([1, 2], ROW), ((1, "a"), ROW), (np.array([1.0, 2.0]), ROW), (0.5, ALONE), (3, ALONE)],
    ids=str,
)
def test_its_form(context, form):
    assert open_context(context)[0] == form


@pytest.mark.parametrize("context", [object(), {1, 2}, lambda: 0, b"bytes"])
def test_what_is_no_context_is_refused(context):
    with pytest.raises(hsb.InputError):
        hsb.HSB(arms=2, seed=0).decide(context)


def test_far_too_many_features_are_refused_before_they_are_read():
    check_count(dict.fromkeys(map(str, range(10)), 1))
    with pytest.raises(hsb.InputError):
        check_count(range(MOST + 1))
