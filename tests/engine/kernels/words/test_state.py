"""The words of a state: the memory that its methods read and write."""

import numpy as np
from support.kernel_cases import numbers_of

import hsb
from hsb.engine.kernels.words import state as words
from hsb.engine.state import State

TREE = hsb.BinaryTree(depth=2)
FLOATS = [
    *("RATE", "GAMMA", "DRIFT", "HEAD_DRIFT", "PRICE", "FLOOR", "LOST", "EXCESS", "MASKED", "SHIFT", "SEEN", "LATE", "UNTIL"),
    *("EXCESS_LIMIT", "DUE", "SHARED"),
]


def test_every_word_of_the_floats_is_in_use_once():
    numbers = numbers_of(words)
    assert sorted(numbers[name] for name in FLOATS) == list(range(words.STATE_WORDS))
    assert max(numbers[name] for name in ("MEMBERS", "ALL_ARMS", "P")) < words.DIRECTORY


def test_an_entry_of_the_directory_has_distinct_words():
    entry = [words.F0, words.F1, words.I0, words.I1, words.K0, words.K1, words.COUNT]
    assert entry == list(range(7)) and len(entry) <= words.ENTRY


def test_a_state_keeps_its_parameters_and_counts_at_these_words():
    state = State(TREE.members(3, None), TREE.key_words())
    state.set_pace(0.5, gamma=0.1, drift=0.2, head_drift=0.3, price=0.4, until=7.0, excess_limit=9.0)
    state.set_counts(5, 2.0, np.array([1.0, 2.0, 3.0]), 4.0)
    state.set_shift(0.25)
    values = {name: state.F[numbers_of(words)[name]] for name in FLOATS}
    assert values == {
        "RATE": 0.5,
        "GAMMA": 0.1,
        "DRIFT": 0.2,
        "HEAD_DRIFT": 0.3,
        "PRICE": 0.4,
        "FLOOR": 0.0,
        "SHIFT": 0.25,
        "DUE": 0.0,
        "LOST": 1.0,
        "EXCESS": 2.0,
        "MASKED": 3.0,
        "SHARED": 4.0,
        "SEEN": 5.0,
        "LATE": 2.0,
        "UNTIL": 7.0,
        "EXCESS_LIMIT": 9.0,
    }
    assert state.I[words.ALL_ARMS] == 3 and state.I[words.MEMBERS] == 1
