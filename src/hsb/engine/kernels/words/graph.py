"""Words of the I of a GRAPH (`graph.py`, `locate.py`), beyond those of all members (`header.py`)."""

NODE0 = 12  # I: the offset in F of each node's row
LIST = 13  # I: scratch, the nodes that contain the leaf, parents first
START = 14  # I: scratch, first edge of each of them
EDGE = 15  # I: scratch, the index in LIST of each option's child
REACH = 16  # F: scratch
RATIO = 17  # F: scratch
SPEC = 18  # I: the finder's table
SHAPE = 19  # how the nodes that contain a leaf are found:
TABLES, BOXES, SUBSETS = 1, 2, 3
