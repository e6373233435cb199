"""The layout of a state in memory, the first words of every member's `I`, and the constants that all kernels share.

A state is two arrays, F and I, that hold its members one after the other, parents first. I begins with the words of the state
(`words/state.py`), then has an entry for each member: its parts of F, of I and of a key.

A member is `(F, I)`, its parts. `I[:HEADER]` is its header: the words below, then those of its kind (`words/`). Then come the
member's tables and scratch space. An entry "F:" is an offset into `F`, "I:" an offset into `I`. Scratch holds nothing between calls.

Numbers that may become very small are never lost and never floored:

- An arm weight is a positive number. Below `ARM_TINY` its entry is 0, and its logarithm stands at `LOGS`.
- An option weight is a positive number and a count `e`: the weight is `v * BASE**-e`. Weights with e = 0 add to 1; an option
  with e > 0 is too small to change that sum.
"""

from ... import reproducible_math

# Status of a round: learned; learned, and something is due; a tree is short of rows; the state is broken.
DONE, DUE, SHORT, BROKEN = 0, 1, 2, 3

# Kinds of members.
DENSE, COMPRESSED, INTERVALS, GRAPH, ONE_OF, ADVISOR, HEAD, ENSEMBLE, GIVEN = 1, 2, 3, 4, 5, 6, 7, 8, 9

# Words of the I of every member.
KIND = 0
ARMS = 1  # M
TOP = 2  # offset, inside an arm block, of the top level of its sum tree
TOP_SIZE = 3  # entries of that level, at most BLOCK
WIDTH = 4  # words of an arm block
VISITS = 5  # the largest number of nodes that contain one context
WEIGHT = 6  # F: scratch, reach*stop/total of each visited node; then, VISITS further, 1/total of its arms
BASES = 7  # I: scratch, the offset in F of each visited node's arm block
TEMPLATE = 8  # F: an arm block at its prior
PARENT = 9  # the parent member, -1 for the first
OPTION = 10  # which option of the parent this member is
LOGS = 11  # words from an arm block to its logarithms; for trees, from a row to its hidden part
HEADER = 32  # words of a header; those from 12 on depend on the kind (`words/`)

REST = 0  # F[REST]: after a visit, the mass on nodes at their prior

SMALL = 4  # `small.py` plays up to this many arms
FEW = 16  # up to this many arms (or if some are not available) a decision computes every arm's probability, beyond it walks; `medium.py` too
BLOCK = 8  # fan-out of the sum tree over arms
ARM_TINY = 1e-260
LOG_ARM_TINY = reproducible_math.log(ARM_TINY)
ARM_LOW = 1e-100  # an arm block is rescaled when its total falls below this
ARM_HIGH = 1e100  # or rises above this, if losses are shifted
OPTION_TINY = 2.0**-664
BASE = 2.0**664
LOG_BASE = reproducible_math.log(BASE)
STEP = 200.0  # the fast passes take exponents up to this; beyond, the passes in logarithms
