"""What an encoder's arrays hold: a row of `I` and a row of `F` for each input of a raw row, and `head`. No Numba here."""

NUMBER, CATEGORY, CYCLE, FLAG, TAG = range(5)  # kinds of inputs
KIND, PLACE, MISSING, START, LIMIT, EDGES, TREE, COARSE, INTS = range(9)  # columns of I
# PLACE is that of z, of a cycle's sine; MISSING its place for missing values, -1 as long as there were none; START where a category's
# places begin in `where`, or the place of a cycle's cosine.
# TREE is the first of its trees, each of which has a cell: of a number two, by its rank and by its leading bits. COARSE bits of the latter
# are 0, so that the tree does not grow for ever.
COUNT, MEAN, M2, SHIFT, SCALE, PERIOD, SETTLED, MIN, MAX, LOW, HIGH, OUTSIDE, SINCE, EDGE = range(14)  # columns of F
# MIN and MAX are of the values counted; LOW and HIGH are what those were when the edges were set. While there are none, the lower end is above
# the upper one. OUTSIDE is about the share of the last values beyond LOW and HIGH. SINCE is how many rows came before those that are counted.
# The edges of the cells follow from EDGE on.
INPUTS, PLACES, ROWS, UNSEEN, SHARED, TREES, HEAD = range(7)  # of head
SAMPLE = 512  # rows of the reservoir
CELLS = 31  # of a number, beside 0 for missing
FLOATS = EDGE + CELLS - 1
BITS = 24  # of a number, the leading ones: its sign, its exponent, and 12 of its significand
EXACT = 12  # of these: sign and exponent; each bit more halves what two numbers may differ by that have the same cell
RECENT = 64  # rows, the last ones, that are kept
WATCHED = 64  # values at least that OUTSIDE is about; of many rows, a part of them
CLIP = 4.0  # standard deviations beyond which numbers are cut
HUGE = 1e140  # statistics cut numbers here, so that no square overflows
