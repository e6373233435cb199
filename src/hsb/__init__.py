"""hsb: contextual decisions with a guarantee.

The mixture over every mapping from the regions of a hierarchical structure to arms, computed exactly, in compiled code.
"""

from . import structures, theory
from .decision import Decision
from .errors import BudgetError, FileError, InputError, StaleDecision
from .policy import HSB
from .simulate import Run, simulate
from .spaces import Box, Cells
from .storage import load
from .structures import (
    ArbitrarySplits,
    BinaryTree,
    GroupedLexicographic,
    Hierarchy,
    KaryTree,
    Lexicographic,
    OneOf,
    PositionSplits,
    Structure,
)

__version__ = "0.1.0"

__all__ = [
    "HSB",
    "ArbitrarySplits",
    "BinaryTree",
    "Box",
    "BudgetError",
    "Cells",
    "Decision",
    "FileError",
    "GroupedLexicographic",
    "Hierarchy",
    "InputError",
    "KaryTree",
    "Lexicographic",
    "OneOf",
    "PositionSplits",
    "Run",
    "StaleDecision",
    "Structure",
    "load",
    "simulate",
    "structures",
    "theory",
]
