"""Words of an Ensemble (`ensemble.py`): of its I beyond those of all members (`header.py`), of its stack, and of the rows of its forest."""

from .advice import ADVICE as ADVICE  # 13

# Words of I. Offsets into F unless noted.
STRIDE = 8  # words of a row of the cosines' covariances (others keep a template here)
ROOM = 12  # columns that there is room for
COLUMNS = 14  # columns in use, the constant among them
COSINES = 15  # cosines
RIDGE = 16  # the prior precision of each column, then of the constant and each cosine
LINEAR = 17  # for each arm: weights; for each arm: covariance
COSINE = (
    18  # frequencies in turns, a row of COSINES for each column; phases; then as LINEAR, rows of covariances STRIDE words each
)
STACK = 19  # words below, then an arm's short memory each
INDEX = 20  # scratch, by arm: its index
SCRATCH = 21  # scratch: inputs, then a number for each column, each cosine, and each column or cosine
PROBABILITY = 22  # cumulative probabilities of the columns, for random cuts
NODE = 23  # rows of the forest's nodes
NODES, NODES_USED = 24, 25  # the room for nodes, and the nodes in use
BLOCK = 26  # the cuts that leaves watch, CUTS to a block
BLOCKS, BLOCKS_USED = 27, 28
SEED = 29  # random numbers that the forest has used
END = 30  # the end of the learned words; scratch and the block of the advice follow
TRACE = 31  # scratch: the paths through the trees, then a number for each level

# Words at STACK: weights and covariance of the four inputs, sums over all rounds, evidence that the world has changed, rows of a log that the
# models were fitted to.
INPUTS = 4
WEIGHTS, COVARIANCE, ROUNDS, LOST, EVIDENCE, LOGGED, MEMORIES = 0, 4, 20, 21, 22, 23, 24
# then four words an arm: residuals and plays that are remembered, for short and for long

TREES = 16
CUTS = 15
DEEPEST = 40  # levels of a tree
TRACED = 1 + 2 * DEEPEST  # words of a path

# Words of a node, then two an arm; LEFT is 0 in a leaf, CUT its block + 1.
AT, THRESHOLD, LEFT, STOP, VISITED, NEXT, CUT, COUNTS = 0, 1, 2, 3, 4, 5, 6, 7

# Words of a cut: column, threshold, is it set; then the counts of its sides.
SET, WATCH = 2, 3
