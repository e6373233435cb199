"""Error-correcting output codes (Section VI-D): several classes by several yes-or-no questions.

A coding matrix has a row of +1 and -1, the codeword, for each class. One perceptron per column learns its bit. Their predictions for a new
row form a codeword too, perhaps of no class. A decoder turns it into a class: the nearest one (`HammingDecoder`), or an arm of a policy whose
context is the codeword (`contexts`).
"""

from .coding import contexts, exhaustive, minimum_distance, one_versus_all, random_code
from .hamming import HammingDecoder
from .perceptrons import Perceptron, Perceptrons

__all__ = ["HammingDecoder", "Perceptron", "Perceptrons", "contexts", "exhaustive", "minimum_distance", "one_versus_all"]
__all__ += ["random_code"]
