"""Members and calls for the tests of single kernels."""

from collections.abc import Sequence
from types import ModuleType

import numpy as np
import numpy.typing as npt
import pytest

from hsb.engine.kernels import arms, header, jit, kinds
from hsb.engine.kernels.words import tree as tree_words
from hsb.engine.state import Member, make_cells

Array = npt.NDArray[np.float64]
EVERY = np.zeros(0, dtype=np.uint8)  # every arm is available
INTERPRETED = pytest.mark.skipif(jit.engine == "numba", reason="Python cannot call an inner function that Numba compiled")


def block_of(weights: Sequence[float]) -> tuple[Array, npt.NDArray[np.int64], int]:
    """Return the arrays of a member, and the offset of an arm block with these weights."""
    F, I = make_cells(1, len(weights))
    b = int(I[tree_words.ROW0]) + 2
    arms.reset(F, I, b)
    F[b : b + len(weights)] = weights
    arms.rebuild(F, I, b)
    return F, I, b


def distribution(member: Member, key: npt.NDArray[np.int64], reach: float = 1.0) -> Array:
    """Visit a member that has no members below it; return each arm's mass, which is `reach` in all."""
    F, I = member
    count = kinds.visit(F, I, key, EVERY, reach)
    p = np.full(member.arms, F[header.REST] / member.arms)
    for i in range(count):
        b = int(I[I[header.BASES] + i])
        p += F[I[header.WEIGHT] + i] * F[b : b + member.arms]
    return p


def step(member: Member, key: npt.NDArray[np.int64], arm: int, x: float, available: Array = EVERY, log_g: float = 0.0) -> float:
    """Visit, then multiply the weight of an arm by exp(-x) in every node; return the root's ratio."""
    F, I = member
    count = kinds.extend(F, I, key, kinds.visit(F, I, key, EVERY, 1.0))
    return float(kinds.ratio(F, I, key, count, (arm, x, float(np.exp(-x)), float(np.exp(log_g))), available))


def numbers_of(module: ModuleType) -> dict[str, int]:
    """Return the whole numbers that a module of words defines, by name."""
    return {name: value for name, value in vars(module).items() if name.isupper() and type(value) is int}
