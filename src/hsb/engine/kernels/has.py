"""What the kernels of a state are compiled for."""

from typing import NamedTuple


class Has(NamedTuple):
    """What a state has: each field is 0, or None if there is none of it. Numba compiles no branch that None rules out.

    A state hands it to kernels as a plain tuple, `tuple(has)`, and each kernel names its fields again, `Has(*kinds)`: a call from Python finds
    the types of a plain tuple in 0.4 µs and those of a NamedTuple in 1.1 µs, and in compiled code the names cost nothing.
    """

    trees: int | None
    """Trees, dense or compressed."""
    compressed: int | None
    """Compressed trees."""
    intervals: int | None
    listed: int | None
    """Graphs, and roots of `OneOf`."""
    heads: int | None
    """A head, advisors or ensembles."""
    logs: int | None
    """Passes in logarithms (`hard.py`)."""
    small: int | None
    """One dense binary tree by itself, with few arms (`small.py`)."""
    medium: int | None
    """The same with some more (`medium.py`)."""
    many: int | None
    """Many arms: a decision walks."""
    dense: int | None
    """Dense trees."""
    ensembles: int | None
