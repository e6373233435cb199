"""The word that advisors and ensembles share: their headers have it at the same place, and nothing else there."""

import numpy as np
import pytest
from support.kernel_cases import numbers_of

import hsb
from hsb.engine.kernels import header as h
from hsb.engine.kernels.words import advice, advisor, ensemble
from hsb.engine.state import State, make_advisor, make_ensemble, make_head
from hsb.engine.state.heads import hang

HEADERS = {
    advisor: ["DEPTH", "ROWS_END", "STRIDE", "ROW0"],
    ensemble: ["STRIDE", "ROOM", "COLUMNS", "COSINES", "RIDGE", "LINEAR", "COSINE", "STACK", "INDEX", "SCRATCH", "SEED", "END"],
}


@pytest.mark.parametrize("words", HEADERS, ids=["advisor", "ensemble"])
def test_no_other_word_stands_where_the_advice_does(words):
    numbers = numbers_of(words)
    assert numbers["ADVICE"] == advice.ADVICE > h.LOGS
    assert advice.ADVICE not in [numbers[name] for name in HEADERS[words]]


@pytest.mark.parametrize(
    "make", [lambda: (make_advisor(0, 2), 1), lambda: (make_ensemble(16, 2), 16)], ids=["advisor", "ensemble"]
)
def test_a_state_reads_the_arm_last_advised_there(make):
    member, words = make()
    tree = hsb.BinaryTree(depth=0)
    members = [make_head([0.5, 0.5], 2), *hang([member], 1, 0), *hang(tree.members(2, None), 0, 2)]
    state = State(members, [0, words, *tree.key_words()])
    key = np.zeros(words + 1, dtype=np.int64)
    if words > 1:
        key[:1] = np.ones(1).view(np.int64)  # the constant
    for _ in range(5):
        state.update(key, None, 0, 1.0, 1.0)
    state.decide(key, None, 0.5)
    assert state.member(1).I[advice.ADVICE] == 1 and state.advice == [1]
