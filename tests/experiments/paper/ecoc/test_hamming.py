"""Hamming decoding: ties are broken fairly, and few wrong bits are put right."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import ecoc as naive_ecoc

from hsb import InputError, ecoc


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 10_000))
def test_every_tie_is_broken_fairly(classes, bits, seed):
    rng = np.random.default_rng(seed)
    matrix = 2 * rng.integers(0, 2, (classes, bits)) - 1
    word = 2 * rng.integers(0, 2, bits) - 1
    probabilities = naive_ecoc.nearest(matrix.tolist(), word.tolist())
    us = (np.arange(60) + 0.5) / 60  # each of up to six gets its share of a fine comb
    labels = ecoc.HammingDecoder(matrix).decode(np.tile(word, (60, 1)), us)
    assert {k: int(n) for k, n in enumerate(np.bincount(labels)) if n} == {k: int(60 * c) for k, c in probabilities.items()}
    assert ecoc.HammingDecoder(matrix, ties="lowest").decode([word])[0] == min(probabilities)


def test_wrong_bits_are_put_right():
    matrix = ecoc.exhaustive(5)  # distance 8: three wrong bits
    decoder = ecoc.HammingDecoder(matrix)
    wrong = list(combinations(range(15), 3))
    for label, word in enumerate(matrix):
        words = np.tile(word, (len(wrong), 1))
        for row, bits in zip(words, wrong, strict=True):
            row[list(bits)] *= -1
        assert (decoder.decode(words) == label).all()
    assert len(wrong) == comb(15, 3)


def test_the_decoder_is_checked_and_seeded():
    decoder = ecoc.HammingDecoder(ecoc.one_versus_all(3), seed=3)
    words = -np.ones((200, 3))
    labels = decoder.decode(words)
    assert (labels == ecoc.HammingDecoder(ecoc.one_versus_all(3), seed=3).decode(words)).all()
    assert set(labels.tolist()) == {0, 1, 2}
    for us in ([0.5], [1.0] * 200, [[0.5]] * 200):
        with pytest.raises(InputError, match=r"\[0, 1\)"):
            decoder.decode(words, us)
    with pytest.raises(InputError, match="3 columns"):
        decoder.decode([[1, -1]])
    with pytest.raises(InputError, match="ties"):
        ecoc.HammingDecoder([[1]], ties="first")  # type: ignore[arg-type]
