"""Words of the I of INTERVALS (`intervals.py`), beyond those of all members (`header.py`)."""

LEAVES = 12
SIGMA = 13  # F: rate of each interval, its scaled arm mass over its arms' total; N*N
SIGMA_E = 14  # F: its count e
TABLE = 15  # F: w and its transpose, then F_2 and its transpose, ...; 2*N*N each
ADJOINT = 16  # F: scratch of the same shape, and one square more
ARM0 = 17  # F: arm blocks, by interval: i*N + j for leaves i .. j
COUNTS = 18  # F: 1 / (number of groups of an interval + 1), by length
UNIT = 19  # F: the scaled weight of a single leaf
GROUPS = 20
