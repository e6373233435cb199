"""Error-correcting output codes (Section VI-D): several classes by way of several yes-or-no questions.

A coding matrix has a row of +1 and -1, the codeword, for each class. One perceptron per column learns its bit; what they say of a new row is
a codeword too, perhaps of no class. A decoder makes a class of it: the nearest one (`HammingDecoder`), or an arm of a policy that has the
codeword as its context (`contexts`) and learns what it means.
"""

from .coding import contexts, exhaustive, minimum_distance, one_versus_all, random_code
from .hamming import HammingDecoder
from .perceptrons import Perceptron, Perceptrons

__all__ = ["HammingDecoder", "Perceptron", "Perceptrons", "contexts", "exhaustive", "minimum_distance", "one_versus_all"]
__all__ += ["random_code"]
