"""What every page has."""

from hsb.evaluate.html_page import document


def test_a_page_needs_nothing_else():
    text = document("a < b", "<p>inside</p>")
    assert text.lstrip().lower().startswith("<!doctype html") and "<p>inside</p>" in text and "a &lt; b" in text
    assert "<script" not in text and "src=" not in text and "@import" not in text


def test_it_is_for_day_and_night():
    assert "prefers-color-scheme: dark" in document("title", "") or "color-scheme: light dark" in document("title", "")
