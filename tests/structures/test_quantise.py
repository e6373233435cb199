"""Which cell a context falls into."""

import numpy as np
import pytest

from hsb.structures.quantise import WORD, cells, digit_bits, halvings, key_words, leaf_numbers


@pytest.mark.parametrize(("levels", "features"), [(10, 3), (1, 2), (0, 4), (7, 1)])
def test_levels_are_shared_in_turn(levels, features):
    result = halvings(levels, features)
    assert sum(result) == levels and max(result) - min(result) <= 1 and sorted(result, reverse=True) == list(result)


def test_cells_are_equal_parts_and_the_end_belongs_to_the_last():
    coordinates = np.array([[0.0, 0.0], [0.49, 0.2], [0.5, 0.34], [1.0, 1.0]])
    assert cells(coordinates, np.array([2, 3])).tolist() == [[0, 0], [0, 0], [1, 1], [1, 2]]


@pytest.mark.parametrize("k", [2, 3, 4, 5, 100, 4096])
def test_a_digit_has_room_for_k_parts(k):
    assert 2 ** digit_bits(k) >= k > 2 ** (digit_bits(k) - 1)
    assert key_words(k, 1) == 1 and key_words(k, 10_000) * (WORD // digit_bits(k)) >= 10_000


def test_a_leafs_number_is_its_key_in_base_k():
    xs = np.random.default_rng(0).random(100)
    assert leaf_numbers(xs[:, None], 3, 4).tolist() == (xs * 81).astype(int).tolist()
