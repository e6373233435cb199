"""A problem from a CSV file, one row for each round: columns of contexts, and a column of losses for each arm."""

import csv
import math
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ..errors import InputError, quoted
from ..policy import Policy
from ..structures.spaces import Box
from ..types import Floats, Ints
from . import Problem, Sample


class Losses(Problem, listed=False):
    """The rounds of a file, in their order. The losses of all arms are known; expected losses are not.

    `about` has path, contexts and losses (names of columns), and optionally low and high, the range of contexts (default: that of the file).
    """

    synthetic = False

    def __init__(self, about: dict[str, Any]) -> None:
        self.about, features = about, len(about["contexts"])
        table = _columns(Path(about["path"]), [*about["contexts"], *about["losses"]])
        self.contexts, self.losses = table[:, :features], table[:, features:]
        self.arms = len(about["losses"])
        low, high = self.contexts.min(axis=0), self.contexts.max(axis=0)
        self.space = Box(about.get("low", low), about.get("high", np.where(high > low, high, low + 1.0)))
        self.space.check(self.contexts)

    def check(self, policy: Policy) -> None:
        """Raise `InputError` unless the policy has as many arms as the file, and all losses lie in its range."""
        super().check(policy)
        low, high = policy.loss_range
        if policy.loss_scale.auto or policy.loss_scale.outside == "clip":
            return
        outside = np.argwhere((self.losses < low) | (self.losses > high))
        if len(outside):
            t, m = outside[0]
            problem = f"loss_range: row {t + 1} of the file has a loss of {self.losses[t, m]}, outside [{low}, {high}]"
            raise InputError(f"{problem}. Write loss_range = [{self.losses.min():g}, {self.losses.max():g}] or wider.")

    def sample(self, rounds: int, seed: int, *, new_model: bool = False) -> Sample:
        """Return the first `rounds` rows, whatever the seed. The losses stand in for the expected losses."""
        return Sample(self.contexts[:rounds], self.losses[:rounds], self.losses[:rounds])

    def expected(self, contexts: Floats, when: Ints, rounds: int) -> NoReturn:
        raise InputError("A file has losses, not expected losses: there is no model and no best loss.")


def _columns(path: Path, names: list[str]) -> Floats:
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file)
        head = [name.strip() for name in next(rows, [])]
        for name in names:
            if head.count(name) != 1:
                raise InputError(
                    f"{path.name} must have one column {quoted(name)}; its columns are {', '.join(head) or 'none'}."
                )
        indices = [head.index(name) for name in names]
        values = []
        for row in rows:
            if not row:
                continue
            if len(row) != len(head):
                raise InputError(f"{path.name}, line {rows.line_num}: {len(row)} values for {len(head)} columns.")
            try:
                values.append([float(row[index]) for index in indices])
            except ValueError as error:
                raise InputError(f"{path.name}, line {rows.line_num}: {error}.") from None
            if not all(map(math.isfinite, values[-1])):
                raise InputError(f"{path.name}, line {rows.line_num}: values must be finite numbers.")
    if not values:
        raise InputError(f"{path.name} has no rows below its header.")
    return np.array(values)
