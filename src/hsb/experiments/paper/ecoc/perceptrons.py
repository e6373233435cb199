"""Online perceptrons in compiled code, one for each column of a coding matrix."""

import copy
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from ....checks import whole
from ....errors import InputError, quoted
from ....structures.spaces import numbers
from ....types import Floats
from .coding import Signs, checked_signs

Scaling = Literal["online", "none"] | tuple[ArrayLike, ArrayLike]

LARGEST = 1e150  # of a feature: its square must not overflow


class Perceptrons:
    """`columns` perceptrons on the same features, each learning one bit of a codeword (Rosenblatt's rule, with an intercept).

    - `features`: the number of features of a row.
    - `scaling`: "online" standardises every row with the means and deviations of the rows learned so far, itself included: it uses
      no later rows. A pair (means, deviations) standardises with these; "none" leaves features alone.
    - `averaged`: predict with the average of all weights since the start instead of the latest: steadier; learning is the same.

    A round costs O(features * columns). A feature that has not changed yet counts 0.

    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0]] * 3)
    >>> machines = Perceptrons(2, columns=2)
    >>> before = machines.learn(X, [[1, -1], [-1, 1]] * 3)  # the codeword of each row before its bits were learned
    >>> machines.codewords([[0.0, 1.0], [1.0, 0.0]]).tolist()
    [[1, -1], [-1, 1]]
    """

    def __init__(self, features: int, *, columns: int, scaling: Scaling = "online", averaged: bool = False) -> None:
        self.features = whole("features", features, 1)
        self.columns = whole("columns", columns, 1)
        self.averaged = bool(averaged)
        self.rounds = 0
        self.weights: Floats = np.zeros((self.columns, self.features + 1))
        self._total: Floats = np.zeros((self.columns if self.averaged else 0, self.features + 1))
        self._online = isinstance(scaling, str) and scaling == "online"
        self._seen = np.array([0 if self._online else 1], dtype=np.int64)
        self._moments: Floats = np.zeros((2, self.features))
        if not self._online:
            self._moments[0], deviations = self._scales(scaling)
            self._moments[1] = deviations**2

    def _scales(self, scaling: Any) -> tuple[Floats, Floats]:
        if isinstance(scaling, str) and scaling == "none":
            return np.zeros(self.features), np.ones(self.features)
        if not isinstance(scaling, tuple | list) or len(scaling) != 2:
            raise InputError(f"scaling must be 'online', 'none' or (means, deviations); given {quoted(scaling)}.")
        means, deviations = (numbers("scaling", part) for part in scaling)
        for part in (means, deviations):
            if part.shape != (self.features,) or not (np.abs(part) < LARGEST).all():
                raise InputError(f"scaling needs {self.features} finite means and deviations; given shape {part.shape}.")
        if (deviations < 0.0).any():
            raise InputError(f"Deviations must be at least 0; given {deviations.min()}.")
        return means, deviations

    def learn(self, X: ArrayLike, targets: ArrayLike) -> Signs:
        """For every row in turn, predict its codeword, then learn its target. Returns the predictions, an array (rows, columns) of +1 and -1.

        `X` has shape (rows, features), `targets` (rows, columns) of +1 and -1, as in `matrix[classes]`. The whole table is checked first.
        """
        rows = self._rows(X)
        signs = checked_signs("targets", targets, self.columns)
        if len(signs) != len(rows):
            raise InputError(f"targets needs a row for each of the {len(rows)} rows of X; given {len(signs)}.")
        from ..kernels import perceptron

        codes, z = np.empty_like(signs), np.empty(self.features)
        perceptron.play(self.weights, self._total, self._moments, self._seen, self._online, rows, signs, z, codes)
        self.rounds += len(rows)
        return codes

    def codewords(self, X: ArrayLike) -> Signs:
        """Return the codeword of every row of `X`, as learned so far: an array (rows, columns) of +1 and -1. Changes nothing."""
        rows = self._rows(X)
        from ..kernels import perceptron

        codes = np.empty((len(rows), self.columns), dtype=np.int8)
        perceptron.encode(self.weights, self._total, self._moments, self._seen, rows, np.empty(self.features), codes)
        return codes

    def copy(self) -> Self:
        """Return an independent copy."""
        clone = copy.copy(self)
        clone.weights, clone._total = np.array(self.weights), np.array(self._total)
        clone._seen, clone._moments = np.array(self._seen), np.array(self._moments)
        return clone

    def _rows(self, X: ArrayLike) -> Floats:
        table = numbers("Features", X)
        if table.ndim != 2 or table.shape[1] != self.features:
            raise InputError(f"Features need shape (rows, {self.features}); given {table.shape}.")
        if not (np.abs(table) < LARGEST).all():  # a NaN fails, too
            t, i = np.argwhere(~(np.abs(table) < LARGEST))[0]
            raise InputError(f"Row {t}: feature {i} is {table[t, i]}. Features must be finite and below {LARGEST:g}.")
        return np.ascontiguousarray(table)

    def __repr__(self) -> str:
        return f"Perceptrons({self.features}, columns={self.columns}, averaged={self.averaged}, rounds={self.rounds})"


class Perceptron:
    """One perceptron: predicts +1 or -1 for a row, then learns the target. Arguments as in `Perceptrons`.

    >>> machine = Perceptron(1, scaling="none")
    >>> [machine.learn([x], 1 if x > 0 else -1) for x in (2.0, -1.0, 1.0, -2.0)]
    [-1, -1, 1, -1]
    >>> machine.predict([3.0])
    1
    """

    def __init__(self, features: int, *, scaling: Scaling = "online", averaged: bool = False) -> None:
        self._one = Perceptrons(features, columns=1, scaling=scaling, averaged=averaged)

    @property
    def weights(self) -> Floats:
        """Return an array with the weight of each standardised feature, then the intercept."""
        return np.asarray(self._one.weights[0])

    def predict(self, x: ArrayLike) -> int:
        """Predict +1 or -1 for a row `x`, as learned so far. Changes nothing."""
        return int(self._one.codewords(np.asarray(x)[None])[0, 0])

    def learn(self, x: ArrayLike, target: int) -> int:
        """Learn the `target` of a row `x`, +1 or -1. Returns the prediction before the update, +1 or -1."""
        return int(self._one.learn(np.asarray(x)[None], [[target]])[0, 0])

    def __repr__(self) -> str:
        return f"Perceptron({self._one.features}, averaged={self._one.averaged}, rounds={self._one.rounds})"
