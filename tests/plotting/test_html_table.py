"""Small tables for notebooks."""

import pytest

from hsb.plotting.html_table import html_table


@pytest.mark.parametrize("text", ["<b>", "a & b", '"quoted"', "<script>alert(1)</script>"])
def test_every_text_is_escaped(text):
    page = html_table([text], [[text]], lead=text, notes=[text], folded=(text, text))
    assert text not in page.partition("</style>")[2] or text == '"quoted"'
    assert "<script" not in page


def test_it_has_its_rows():
    page = html_table(["arm", "share"], [["a", "0.5"], ["b", "0.25"]])
    assert page.count("<tr") == 3 and page.count("<td") == 4 and page.count("<th>") + page.count("<th ") == 2
