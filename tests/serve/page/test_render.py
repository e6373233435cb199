"""Templates: everything is escaped, and JSON has no number that it cannot hold."""

import json
import math

import pytest

from hsb.serve.page import render


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_json_cannot_hold_is_none(value):
    assert render.plain({"value": value, "rows": [value, 1.5, (value, "a")]}) == {
        "value": None,
        "rows": [None, 1.5, [None, "a"]],
    }
    json.dumps(render.plain([value]), allow_nan=False)


def test_what_templates_are_given_is_text():
    template = render.ENVIRONMENT.from_string("<b>{{ name }}</b>")
    assert template.render(name="<script>") == "<b>&lt;script&gt;</b>"


def test_a_name_that_is_missing_is_a_fault():
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError):
        render.ENVIRONMENT.from_string("{{ nobody }}").render()


def test_static_files_have_a_type():
    assert all(body and kind for body, kind, *_ in render.STATIC.values())
