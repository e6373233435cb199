"""What a form may send."""

import pytest

from hsb.serve.page import candidates


def test_a_form_asks_for_candidates():
    asked = candidates.evaluation_request({"arm": "a", "uniform": "on"}, ["a", "b"])
    assert {"uniform": True} in asked["candidates"].values() and {"arm": "a"} in asked["candidates"].values()


@pytest.mark.parametrize("form", [{"arm": "nobody"}, {"kind": "Exp3", "settings": "{"}, {}])
def test_what_cannot_be_asked_is_refused_in_words(form):
    with pytest.raises(ValueError, match=r"\w"):
        candidates.evaluation_request(form, ["a", "b"])
