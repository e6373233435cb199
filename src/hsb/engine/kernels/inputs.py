"""The arrays of an encoder: a row of `I` and a row of `F` for each input of a raw row, and `head`. No Numba here."""

NUMBER, CATEGORY, CYCLE, FLAG, TAG = range(5)  # kinds of inputs
KIND, COLUMN, MISSING, START, LIMIT, EDGES, TREE, COARSE, INTS = range(9)  # columns of I
# COLUMN: the input's column in z, a cycle's sine. MISSING: its column for missing values, -1 before the first. START: where a category's
# columns begin in `where`, or the column of a cycle's cosine.
# TREE: the first of its trees, each of which has a cell. A number has two trees, by its rank and by its leading bits. COARSE of those bits are
# 0, so that the tree stops growing.
COUNT, MEAN, M2, SHIFT, SCALE, PERIOD, SETTLED, MIN, MAX, LOW, HIGH, OUTSIDE, SINCE, EDGE = range(14)  # columns of F
# MIN and MAX: the range of the values counted. LOW and HIGH: that range when the edges were set. Before the first value the lower end is above
# the upper one. OUTSIDE: about the share of the last values beyond LOW and HIGH. SINCE: the number of rows before those that are counted.
# The edges of the cells follow from EDGE on.
INPUTS, COLUMNS, ROWS, UNSEEN, SHARED, TREES, HEAD = range(7)  # of head
SAMPLE = 512  # rows in the reservoir
CELLS = 31  # cells of a number; 0 is for missing
FLOATS = EDGE + CELLS - 1
BITS = 24  # leading bits of a number: its sign, its exponent, and 12 of its significand
EXACT = 12  # of these, sign and exponent; each further bit halves the largest difference of two numbers in the same cell
RECENT = 64  # the number of last rows that are kept
WATCHED = 64  # OUTSIDE averages over at least this many values; over a part of all if there are many
CLIP = 4.0  # standard deviations beyond which numbers are cut
HUGE = 1e140  # statistics cut numbers here, so that no square overflows
