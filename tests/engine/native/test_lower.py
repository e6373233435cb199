"""From the words of a declaration to the types that Numba compiles for, and to the letters that the glue reads."""

import ast
from typing import NamedTuple

import numpy as np
import pytest

from hsb.engine.native import sources

numba = pytest.importorskip("numba")
lower = pytest.importorskip("hsb.engine.native.lower")
types = numba.types
COMPILED = ("kernel", "inner", "inlined")  # the decorators of kernels


class Pair(NamedTuple):
    """Two arrays of one type."""

    keys: np.ndarray
    rows: np.ndarray


class Mixed(NamedTuple):
    """An array and a number."""

    keys: np.ndarray
    rate: float


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("d", types.float64),
        ("u", types.uint64),
        ("b", types.boolean),
        ("D2", types.Array(types.float64, 2, "C")),
        ("L1*", types.Array(types.int64, 1, "A")),
        ("C1", types.Array(types.uint8, 1, "C")),
        ("(l l)", types.Tuple([types.int64, types.int64])),
        ("Pair(L1 L1)", types.NamedUniTuple(types.Array(types.int64, 1, "C"), 2, Pair)),
        ("Mixed(L1 d)", types.NamedTuple([types.Array(types.int64, 1, "C"), types.float64], Mixed)),
    ],
)
def test_a_word_stands_for_a_type(word, expected):
    assert lower.numba_type(word, {"Pair": Pair, "Mixed": Mixed}) == expected


def test_types_are_those_that_numba_finds_for_values():
    values = {
        "D2": np.zeros((2, 3)),
        "I3": np.zeros((1, 2, 3), dtype=np.int32),
        "B1": np.zeros(2, dtype=bool),
        "d": 0.5,
        "l": 3,
    }
    for word, value in values.items():
        assert lower.numba_type(word, {}) == numba.typeof(value)


def test_letters_leave_out_names_and_spaces():
    assert lower.letters_of("ArmPools(C2 L1 L1 B1)") == "(C2L1L1B1)"
    assert lower.letters_of("Outer(D1 Inner(L1 l) d)") == "(D1(L1l)d)" and lower.letters_of("D2*") == "D2*"


def subscripts_from_the_end(source):
    """Return the subscripts in compiled functions that begin with a minus, and slices with a step, as text."""
    wrong = []
    for function in ast.walk(ast.parse(source)):
        decorators = [ast.unparse(each).partition("(")[0] for each in getattr(function, "decorator_list", ())]
        if not isinstance(function, ast.FunctionDef) or not set(decorators) & set(COMPILED):
            continue
        for each in (part.slice for part in ast.walk(function) if isinstance(part, ast.Subscript)):
            bounds = [bound for part in ast.walk(each) if isinstance(part, ast.Slice) for bound in (part.lower, part.upper)]
            signs = [isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub) for part in (each, *bounds)]
            steps = [part.step for part in ast.walk(each) if isinstance(part, ast.Slice) and part.step is not None]
            if any(signs) or steps:
                wrong.append(ast.unparse(each))
    return wrong


def test_no_kernel_counts_from_the_end():
    """The library has no tests for it. What is computed is tried with NUMBA_BOUNDSCHECK=1 (`make test-attack`)."""
    files = [path for path in sources() if "kernels" in path.parts]
    assert len(files) > 40
    assert {path.name: wrong for path in files if (wrong := subscripts_from_the_end(path.read_text()))} == {}


def test_a_kernel_that_does_is_found():
    body = "def f(F, n):\n    return F[-1], F[-n:], F[: n - 1], F[n, 0], F[::2]\n"
    assert subscripts_from_the_end(f"@kernel('D1 l')\n{body}") == ["-1", "-n:", "::2"]
    assert subscripts_from_the_end(body) == []
