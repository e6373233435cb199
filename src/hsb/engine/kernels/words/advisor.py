"""Words of an ADVISOR (`advisor.py`): of its I beyond those of all members (`header.py`), of its F, and of a row of its F."""

from .advice import ADVICE as ADVICE  # 13

DEPTH = 12
ROWS_END = 14  # F: the end of the rows; scratch and the block of the advised arm stand behind
STRIDE = 16  # words of a row
ROW0 = 19  # F: row 0; the root's is row 1

# Words of F before the rows.
CLOCK = 2  # rounds learned from
SCRATCH = 8  # scratch, by arm: three words not in use, mean (then the index), width
# by level, of the played arm: mean, 1 - mean, expected, 1 - expected

# Words of a row; an arm has four: the sum of its losses, of 1 - loss, and the same with a short memory.
STOP, GO, VISITS, EVIDENCE, BORN, CHANGED, COUNTS = 0, 1, 2, 3, 4, 5, 6

# Scratch behind the block of the advised arm: a row of memory for each node, in heap order, or, up to FEW arms, for each level. With more
# arms, then, the arms of the last M rounds learned, by round modulo M. Words of a row of memory: the number of the next round to be read into
# it, from 1, or 0 if the row is empty; then each arm's expected mean, each arm's mean, each arm's width.
NEXT, EXPECTED = 0, 1
