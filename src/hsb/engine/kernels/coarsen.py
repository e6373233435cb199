"""Coarser keys for full trees: trees over the leading bits of numbers, whose rows have a limit, ignore their last levels.

Below the last level that remains everything is at its prior. So rules that do not split there keep their gain, and the bound is about those
only (`docs/proofs.md`, 8).
"""

from . import members
from .header import COMPRESSED, KIND
from .inputs import BITS, COARSE
from .jit import inner, kernel
from .words.state import DUE
from .words.tree import FANOUT, LINK_STRIDE, LINKS, MOST_ROWS, PER_WORD, ROW0, ROWS, STRIDE


@kernel("D1 L1 L1 l L2 L1")
def coarsen_full(F, I, inputs, first, encoder, numbers):
    """Make every full tree coarser until at most half of its rows are left, and tell the encoder. One call: no interrupt splits it.

    `inputs` has the input of each tree, from member `first` on, `encoder` a row of words for each input; `numbers` is scratch. What was due
    is not due any more.
    """
    for k in range(first, first + len(inputs)):
        f, i = members.arrays(F, I, k)
        if i[KIND] == COMPRESSED and i[ROWS] + 2 > i[MOST_ROWS] > 0:
            levels = BITS - encoder[inputs[k - first], COARSE]
            while rows_at(i, levels) > i[MOST_ROWS] // 2:
                levels -= 1
            coarsen(f, i, levels, numbers)
            encoder[inputs[k - first], COARSE] = BITS - levels
    F[DUE] = 0.0


@inner
def rows_at(I, levels):
    """Return how many rows `coarsen` would leave."""
    n = 0
    for row in range(I[ROWS]):
        n += I[I[LINKS] + row * I[LINK_STRIDE]] >> 12 <= levels
    return n


@inner
def coarsen(F, I, levels, numbers):
    """Make keys with the same first `levels` digits equal, in a compressed tree with keys of one word.

    Later keys must have zeros after these digits. Rows that remain move up; `numbers` is scratch, a word for each row.
    """
    stride, link_stride, fanout = I[STRIDE], I[LINK_STRIDE], I[FANOUT]
    used, behind, n = I[ROWS], I[PER_WORD] - levels, 0
    for row in range(used):
        numbers[row] = n
        n += I[I[LINKS] + row * link_stride] >> 12 <= levels
    for row in range(used):
        source = I[LINKS] + row * link_stride
        if I[source] >> 12 <= levels:
            target = I[LINKS] + numbers[row] * link_stride
            ends = I[source] & 4095 >= levels
            for child in range(1, 1 + fanout):
                below = I[source + child]
                I[target + child] = -1 if ends or below < 0 else numbers[below]
            I[target] = I[source]
            I[target + 1 + fanout] = I[source + 1 + fanout] >> behind << behind
            for word in range(stride):
                F[I[ROW0] + numbers[row] * stride + word] = F[I[ROW0] + row * stride + word]
    I[ROWS] = n
