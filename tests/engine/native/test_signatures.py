"""The words by which kernels declare their argument types."""

import pytest

from hsb.engine.native.signatures import split


@pytest.mark.parametrize(
    ("declaration", "words"),
    [
        ("", []),
        ("D1 L1 C1 d", ["D1", "L1", "C1", "d"]),
        ("D1  d", ["D1", "d"]),
        ("L1 D2* l", ["L1", "D2*", "l"]),
        ("D1 Table(D3 L1) d", ["D1", "Table(D3 L1)", "d"]),
        ("Outer(D1 Inner(L1 l) d) b", ["Outer(D1 Inner(L1 l) d)", "b"]),
        ("Learned(L1 D1) (l l)", ["Learned(L1 D1)", "(l l)"]),
    ],
)
def test_a_tuple_with_its_brackets_is_one_word(declaration, words):
    assert split(declaration) == words
