"""What an encoder's arrays hold: a row of `I` and a row of `F` for each slot of a raw row, and `head`. No Numba here."""

NUMBER, CATEGORY, CYCLE, FLAG, TAG = range(5)  # kinds of slots
KIND, PLACE, MISSING, START, LIMIT, EDGES, INTS = range(7)  # columns of I
# PLACE is that of z, of a cycle's sine; MISSING its place for missing values, -1 as long as there were none; START where a category's
# places begin in `where`, or the place of a cycle's cosine.
COUNT, MEAN, M2, SHIFT, SCALE, PERIOD, SETTLED, EDGE = range(8)  # columns of F; the edges of its cells begin at EDGE
SLOTS, PLACES, ROWS, UNSEEN, SHARED, HEAD = range(6)  # of head
SAMPLE = 512  # rows of the reservoir
CELLS = 31  # of a number, beside 0 for missing
FLOATS = EDGE + CELLS - 1
CLIP = 4.0  # standard deviations beyond which numbers are cut
HUGE = 1e140  # statistics cut numbers here, so that no square overflows
