"""How a state lies in memory, what the first words of a member's `I` mean, and the constants that every kernel shares.

A state is two arrays, F and I, that hold its members one after the other, parents first. I begins with the words of the state (`MEMBERS`, ...),
then has an entry for each member: which parts of F, of I and of a key are its own.

A member is `(F, I)`, its own parts. `I[:HEADER]` is the header below; what follows is the member's own tables and scratch space. An entry
"F:" is an offset into `F`, "I:" an offset into `I`. Scratch holds nothing between calls.

Numbers that may become very small are never lost and never floored:

- An arm weight is a positive number, or, once below `ARM_TINY`, 0 with its logarithm kept aside (at `LOGS`).
- An option weight is a positive number and a count `e`: the weight is `v * BASE**-e`. Weights with e = 0 add to 1; an option
  with e > 0 is too small to change that sum.
"""

from ... import reproducible_math

# Words of a state's F: what a round is learned with, and what came of those learned so far. The scratch at `P` follows, then the members.
RATE = 0  # of learning
GAMMA = 1  # added to every propensity (implicit exploration); 0 without
DRIFT = 2  # share of its weights that every node learned from gives away
HEAD_DRIFT = 3  # and that the head gives
PRICE = 4  # what sharing that much costs in the certificate, a round with a loss
FLOOR = 5  # share of the decisions that is played uniformly; only whole tables look here
LOST = 6  # sum of the losses
EXCESS = 7  # sum of loss + ln(Z)/rate, and of the price of sharing (`theory/schedule.py`)
MASKED = 8  # rounds with a loss in which some arms were not offered
SHIFT = 9  # what is taken off every loss before it is learned: set beforehand, so that it favours no mapping
SEEN = 10  # rounds learned, each counted by the call that learns it: how an interrupt is found to have come before or after
LATE = 11  # rounds that the schedule counts on top of those, for feedback that came late
STATE_WORDS = 16

# Words of a state's I.
MEMBERS, ALL_ARMS, P = 0, 1, 2  # members; arms; F: scratch, a number for each arm
DIRECTORY, ENTRY = 8, 8  # I: the first member's entry, the words of an entry:
F0, F1, I0, I1, K0, K1, COUNT = 0, 1, 2, 3, 4, 5, 6  # first and end in F, in I, in a key; scratch, nodes just visited

# What became of a round: learned; a tree is short of rows; it needs logarithms, which these kernels were compiled without.
DONE, SHORT, HARD = 0, 1, 2

# Kinds of members.
DENSE, COMPRESSED, INTERVALS, GRAPH, ONE_OF, ADVISOR, HEAD, PANEL = 1, 2, 3, 4, 5, 6, 7, 8

# Common to all members.
KIND = 0
ARMS = 1  # M
TOP = 2  # offset, inside an arm block, of the top level of its sum tree
TOP_SIZE = 3  # entries of that level, at most BLOCK
WIDTH = 4  # words of an arm block
VISITS = 5  # most nodes that contain one context
WEIGHT = 6  # F: scratch, reach*stop/total of each visited node; then, VISITS further, 1/total of its arms
BASES = 7  # I: scratch, where in F the arm block of each visited node begins
TEMPLATE = 8  # F: an arm block at its prior
PARENT = 9  # the member this one hangs from, -1 for the first
OPTION = 10  # which option of the parent this member is
LOGS = 11  # how far behind an arm block its logarithms stand; for trees, how far behind a row its hidden part

# Trees (DENSE, COMPRESSED).
DEPTH = 12
FANOUT = 25
ROOTS = 27  # trees of depth 0 side by side, by cell; 0: one tree
BITS = 13  # bits of a digit in a key
PER_WORD = 14  # digits in a word of a key
WORDS = 15  # words of a key
STRIDE = 16  # words of a row in F
ROWS = 17  # rows in use
CAPACITY = 18  # rows allocated
ROW0 = 19  # F: first row
LINKS = 20  # I: first link (COMPRESSED)
LINK_STRIDE = 21
GO = 22  # F: prior of passing k links in a row without stopping, k = 0..DEPTH
STAY = 23  # F: prior of stopping at one of k links
PATH = 24  # I: scratch, visited rows
WHOLE = 26  # scratch: did the last visit find a row for every node that contains the key?

# Intervals.
LEAVES = 12
GROUPS = 20
SIGMA = 13  # F: rate of each interval, its scaled arm mass over its arms' total; N*N
SIGMA_E = 14  # F: its count e
TABLE = 15  # F: w and its transpose, then F_2 and its transpose, ...; 2*N*N each
ADJOINT = 16  # F: scratch of the same shape, and one square more
ARM0 = 17  # F: arm blocks, by interval: i*N + j for leaves i .. j
COUNTS = 18  # F: 1 / (number of groups of an interval + 1), by length
UNIT = 19  # F: the scaled weight of a single leaf

# Graphs.
SHAPE = 19  # how the nodes that contain a leaf are found: TABLES, BOXES or SUBSETS
NODE0 = 12  # I: where the row of each node begins in F
LIST = 13  # I: scratch, the nodes that contain the leaf, parents first
START = 14  # I: scratch, first edge of each of them
EDGE = 15  # I: scratch, the place in LIST of each option's child
REACH = 16  # F: scratch
RATIO = 17  # F: scratch
SPEC = 18  # I: what the finder needs
TABLES, BOXES, SUBSETS = 1, 2, 3

# One of several members, and the head: a node whose options are whole members.
OPTIONS = 15  # number of options, the stop of a ONE_OF included; a HEAD never stops
NODE = 12  # F: the node's row, laid out as a graph's
CHILD_REACH = 13  # F: scratch, reach of each option's member
CHILD_RATIO = 14  # F: scratch, ratio of each option's member (its logarithm in the slow pass)
PRIOR = 16  # F: the options' prior weights (HEAD)

# Advisors (what a panel has more: `panel_layout.py`).
ADVICE = 13  # scratch: the arm that was last advised
ROWS_END = 14  # F: the end of the rows; scratch and the block of the advised arm stand behind

HEADER = 32
SMALL = 4  # arms, at most, of `small.py`
FEW = 16  # up to so many arms, or with some not offered, a decision computes every arm's probability; beyond, it walks. And of `medium.py`
REST = 0  # F[REST]: after a visit, the mass that lies on nodes at their prior

BLOCK = 8  # fan-out of the sum tree over arms
ARM_TINY = 1e-260
LOG_ARM_TINY = reproducible_math.log(ARM_TINY)
ARM_LOW = 1e-100  # an arm block is rescaled when its total falls below
ARM_HIGH = 1e100  # or rises above, where losses are shifted
OPTION_TINY = 2.0**-664
BASE = 2.0**664
LOG_BASE = reproducible_math.log(BASE)
STEP = 200.0  # the fast passes take exponents up to this; beyond, the passes in logarithms
