"""Words of the I of a tree, DENSE or COMPRESSED (`tree.py`, `chains.py`), beyond those of all members (`header.py`)."""

DEPTH = 12
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
FANOUT = 25
WHOLE = 26  # scratch: did the last visit find a row for every node that contains the key?
ROOTS = 27  # trees of depth 0 side by side, by cell; 0: one tree
MOST_ROWS = 28  # the most rows of a COMPRESSED tree before its keys are made coarser; 0: no limit
