"""Words of the I of a node whose options are whole members, ONE_OF or HEAD (`one_of.py`), beyond those of all members (`header.py`)."""

NODE = 12  # F: the node's row, laid out as a graph's
CHILD_REACH = 13  # F: scratch, reach of each option's member
CHILD_RATIO = 14  # F: scratch, ratio of each option's member (its logarithm in the slow pass)
OPTIONS = 15  # number of options, the stop of a ONE_OF included; a HEAD never stops
PRIOR = 16  # F: the options' prior weights (HEAD)
