"""Principal components."""

from typing import Any, Self

import numpy as np

from ...checks import whole
from ...errors import InputError
from ...types import Floats
from .base import Streamed

MOST = 1 << 20  # components


class _Moments:
    """Sums of rows and of their products, about a point near their mean for numerical accuracy."""

    def __init__(self, about: Floats) -> None:
        self.about, self.rows = about, 0
        self.sum, self.products = np.zeros(len(about)), np.zeros((len(about), len(about)))

    def add(self, table: Floats) -> None:
        with np.errstate(over="ignore", invalid="ignore"):  # seen at the end
            moved = table - self.about
            self.sum += moved.sum(axis=0)
            self.products += moved.T @ moved
        self.rows += len(table)


class PCA(Streamed[_Moments]):
    """Projection on the `components` directions of largest variance of the head, after subtracting its mean.

    `explained` is the share of all variance along each direction, `axes` has a direction in each row.

    The covariance is summed up batch by batch, about the mean of the first batch so that little is lost, and decomposed once. The sign of a
    component, which is arbitrary, is such that its largest entry (the first of them, if several) is positive.

    >>> pca = PCA(1).fit(np.array([[0.0, 0.0], [2.0, 2.0], [4.0, 4.0]]))
    >>> pca.transform([[4.0, 4.0]]).round(6), pca.explained.round(6)
    (array([[2.828427]]), array([1.]))
    """

    def __init__(self, components: int = 1) -> None:
        super().__init__()
        self.components = whole("components", components, 1, MOST)
        self.mean: Floats = np.zeros(0)
        self.axes: Floats = np.zeros((self.components, 0))  # a row per component
        self.explained: Floats = np.zeros(self.components)  # the share of all variance along each

    def _summary(self, table: Floats) -> _Moments:
        d = table.shape[1]
        if self.components > d:
            raise InputError(f"{self.components} components are more than the {d} features. Use at most {d}.")
        with np.errstate(over="ignore"):
            return _Moments(table.mean(axis=0))

    def _use(self, summary: _Moments) -> None:
        shift = summary.sum / summary.rows
        with np.errstate(over="ignore", invalid="ignore"):
            covariance = summary.products / summary.rows - np.outer(shift, shift)
        if not np.isfinite(covariance).all():
            raise InputError(
                "Some features are so large (beyond about 1e150) that their squares overflow a double. Scale them first, e.g. "
                "hsb.encode.Chain(hsb.encode.MinMax(), hsb.encode.PCA())."
            )
        values, vectors = np.linalg.eigh(covariance)
        chosen = np.argsort(-values, kind="stable")[: self.components]
        axes = vectors[:, chosen].T
        largest = np.argmax(np.abs(axes).round(9), axis=1)
        self.axes = np.ascontiguousarray(axes * np.sign(axes[np.arange(len(axes)), largest])[:, None])
        self.mean = summary.about + shift
        total = float(np.trace(covariance))
        self.explained = np.maximum(values[chosen], 0.0) / total if total > 0.0 else np.zeros(self.components)

    def _transform(self, table: Floats) -> Floats:
        """Project the rows. Sums start at the first feature, unlike those of BLAS: the same bits on every machine, for one row or many."""
        projections = np.empty((len(table), len(self.axes)))
        for k, axis in enumerate(self.axes):
            projections[:, k] = np.cumsum(table * axis, axis=1)[:, -1] - np.cumsum(self.mean * axis)[-1]
        return projections

    def _plain(self) -> dict[str, Any]:
        return {"mean": self.mean.tolist(), "axes": self.axes.tolist(), "explained": self.explained.tolist()}

    @classmethod
    def _from_plain(cls, data: dict[str, Any]) -> Self:
        axes = np.array(data["axes"], dtype=np.float64)
        mean = np.array(data["mean"], dtype=np.float64)
        if axes.ndim != 2 or mean.shape != axes.shape[1:] or not (np.isfinite(axes).all() and np.isfinite(mean).all()):
            raise InputError("A PCA needs a finite mean and axes of its length.")
        pca = cls(len(axes))
        pca.axes, pca.mean, pca.features = axes, mean, axes.shape[1]
        pca.explained = np.array(data["explained"], dtype=np.float64)
        return pca
