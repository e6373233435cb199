"""Categories: their numbers, their numbers in order of appearance, their buckets, and what was never seen."""

import json
import subprocess
import sys

import numpy as np
import pytest

import hsb
from hsb.features.encoders import Chain, Hashed, MinMax, Ordinal, code, from_dict

NAMES = [f"category {k}" for k in range(1000)]


def test_codes_are_different_exact_and_the_same_everywhere():
    codes = [code(name) for name in NAMES]
    assert len(set(codes)) == 1000
    assert all(value == int(value) and 0 <= value < 2**53 for value in codes)
    other = subprocess.run([sys.executable, "-c", "import hsb; print(hsb.encode.code('é'))"], capture_output=True)
    assert float(other.stdout) == code("é")


def test_ordinal_is_in_order_of_appearance_in_pieces_too():
    rng = np.random.default_rng(0)
    table = np.array([code(name) for name in NAMES])[rng.integers(0, 30, (500, 2))]
    whole, pieces = Ordinal().fit(table), Ordinal().fit(np.array_split(table, 7))
    assert whole.to_dict() == pieces.to_dict()
    result = whole.transform(table)
    for j in range(2):
        seen = list(dict.fromkeys(table[:, j].tolist()))
        assert result[:, j].tolist() == [(seen.index(value) + 0.5) / (len(seen) + 1) for value in table[:, j]]
    assert whole.clipped == 0


def test_what_was_not_seen():
    own = Ordinal([0]).fit([[1.0, 9.0], [2.0, 8.0]])
    assert np.allclose(own.transform([[2.0, 5.0], [3.0, 5.0]]), [[0.5, 5.0], [5 / 6, 5.0]])  # the second feature passes
    assert own.clipped == 1
    back = from_dict(json.loads(json.dumps(own.to_dict())))
    assert np.array_equal(back.transform([[3.0, 1.0]]), own.transform([[3.0, 1.0]]))
    with pytest.raises(hsb.InputError, match="head did not have"):
        Ordinal(unseen="error").fit([[1.0], [2.0]]).transform([[3.0]])
    hashed = Hashed(16).fit([[1.0], [2.0]])
    assert 0 < hashed.transform([[3.0]])[0, 0] < 1
    assert hashed.clipped == 0


def test_buckets_are_filled_evenly_and_seeds_differ():
    rows = [[code(name)] for name in NAMES]
    numbers = Hashed(10).fit(rows).transform(rows)
    counts = np.histogram(numbers, 10, (0, 1))[0]
    assert ((counts - 100) ** 2 / 100).sum() < 27.9  # chi squared, 9 degrees of freedom: 0.001
    assert not np.array_equal(numbers, Hashed(10, seed=1).fit(rows).transform(rows))
    small = [[float(k)] for k in range(1000)]  # small numbers are mixed as well
    counts = np.histogram(Hashed(10).fit(small).transform(small), 10, (0, 1))[0]
    assert ((counts - 100) ** 2 / 100).sum() < 27.9
    chain = Chain(Ordinal([0]), MinMax()).fit([[1.0, 5.0], [2.0, 6.0], [1.0, 7.0]])
    assert chain.transform([[2.0, 6.0]]).tolist() == [[1.0, 0.5]]


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: Ordinal([]), "columns"),
        (lambda: Ordinal([1, 1]), "columns"),
        (lambda: Ordinal("01"), "columns"),
        (lambda: Ordinal([3]).fit(np.zeros((5, 2))), "feature 3"),
        (lambda: Ordinal(unseen="x"), "unseen"),
        (lambda: Ordinal().fit(np.arange(70_000.0)), "Use Hashed"),
        (lambda: Hashed(1), "buckets"),
        (lambda: Hashed(seed=-1), "seed"),
        (lambda: Ordinal().transform([[1.0]]), "fitted"),
    ],
)
def test_what_is_refused(make, what):
    with pytest.raises(hsb.InputError, match=what):
        make()
