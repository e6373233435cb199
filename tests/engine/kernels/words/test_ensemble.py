"""The words of an ensemble: distinct in its header, its stack and the rows of its forest, and in the order of its memory."""

from support.kernel_cases import numbers_of

from hsb.engine.kernels import header as h
from hsb.engine.kernels.words import ensemble as words
from hsb.engine.state import make_ensemble

HEADER = [
    *(
        "STRIDE",
        "ROOM",
        "ADVICE",
        "COLUMNS",
        "COSINES",
        "RIDGE",
        "LINEAR",
        "COSINE",
        "STACK",
        "INDEX",
        "SCRATCH",
        "PROBABILITY",
    ),
    *("NODE", "NODES", "NODES_USED", "BLOCK", "BLOCKS", "BLOCKS_USED", "SEED", "END", "TRACE"),
]
USED = {h.KIND, h.ARMS, h.TOP, h.TOP_SIZE, h.WIDTH, h.VISITS, h.WEIGHT, h.BASES, h.PARENT, h.OPTION, h.LOGS}


def test_no_two_words_share_an_entry():
    numbers = numbers_of(words)
    header = [numbers[name] for name in HEADER]
    assert len(set(header)) == len(header) and not USED.intersection(header) and max(header) < h.HEADER
    node = [words.AT, words.LEFT, words.STOP, words.VISITED, words.NEXT, words.CUT, words.COUNTS, words.THRESHOLD]
    assert sorted(node) == list(range(8)) and words.COUNTS == 7  # the counts of the arms come last
    assert words.SET < words.WATCH


def test_the_stack_has_room_for_weights_and_covariance():
    assert words.COVARIANCE - words.WEIGHTS == words.INPUTS and words.ROUNDS - words.COVARIANCE == words.INPUTS**2
    after = [words.ROUNDS, words.LOST, words.EVIDENCE, words.LOGGED, words.MEMORIES]
    assert after == list(range(words.ROUNDS, words.ROUNDS + 5))


def test_pieces_of_memory_do_not_overlap():
    _, I = make_ensemble(16, 3)
    order = [words.RIDGE, words.STACK, words.PROBABILITY, words.COSINE, words.LINEAR, words.NODE, words.BLOCK, words.END]
    starts = [int(I[word]) for word in [*order, h.WEIGHT, words.INDEX, words.SCRATCH, words.TRACE, h.HEADER]]
    assert starts == sorted(starts) and starts[0] >= 8
    assert starts[1] - starts[0] >= 16 + I[words.COSINES] + 1 and starts[6] - starts[5] >= I[words.NODES] * (words.COUNTS + 6)
