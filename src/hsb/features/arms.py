"""Features of arms, read by a separate encoder, and the similarity of two arms."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import reproducible_math
from ..errors import InputError, quoted
from ..types import Floats
from .declared import Features
from .reader import FeatureReader
from .stored import from_journal

BANDWIDTH = 0.125  # h^2, in mean squared distances between two arms


class ArmFeatures:
    """Raw rows, one for each arm, NaN for unknown values, and the encoder that read them. Immutable: `with_features` returns a copy.

    >>> arms = ArmFeatures.of(["a", "b", "c"], {"a": {"category": "shoes", "price": 30}, "b": {"category": "hats", "price": 20}})
    >>> arms = arms.with_features(3, "d", {"category": "shoes", "price": 32})
    >>> arms.similarity(3).round(2).tolist()
    [0.87, 0.0, 0.0, 0.0]
    """

    def __init__(self, encoder: FeatureReader, raw: Floats) -> None:
        self.encoder, self.raw = encoder, raw

    @classmethod
    def of(cls, arms: Sequence[Hashable], features: Mapping[Hashable, Any] | None) -> ArmFeatures:
        """Read the features of a policy's first arms. Raises `InputError` if they are not features, or not of these arms."""
        features = {} if features is None else features
        if not isinstance(features, Mapping):
            raise InputError(f"arm_features must be a dict: {{arm: {{'price': 30, ...}}, ...}}; given {quoted(features):.200}.")
        if strange := [arm for arm in features if arm not in arms]:
            raise InputError(
                f"arm_features has {quoted(strange[0]):.100}, which is no arm. The arms are {quoted(list(arms)):.200}; leave the others out."
            )
        encoder = FeatureReader(Features())
        rows = [_read(encoder, arm, features.get(arm)) for arm in arms]
        return cls(encoder, _table(rows, encoder.inputs))

    def with_features(self, index: int, arm: Hashable, features: Any) -> ArmFeatures:
        """Return a copy in which the arm of this index, an old or a new one, has these features; None: unknown features."""
        encoder = self.encoder
        if features is not None:
            encoder = from_journal(FeatureReader, encoder.to_dict())
        rows = list(self.raw)
        rows[index : index + 1] = [_read(encoder, arm, features)]
        return ArmFeatures(encoder, _table(rows, encoder.inputs))

    @property
    def some(self) -> bool:
        """Whether any arm has features."""
        return not bool(np.isnan(self.raw).all())

    def similarity(self, index: int) -> Floats:
        """Return an arm's similarity to each: s = exp(-|g - g'|^2 / (2 h^2)) for encoded features g; 0 to itself and to arms without features.

        Numbers are scaled by all arms. h^2 is an eighth of the mean squared distance between two arms, so two arms at the average distance
        have s = exp(-4), 0.02. O(arms * columns).
        """
        similarities = np.zeros(len(self.raw))
        known = np.flatnonzero(~np.isnan(self.raw).all(axis=1))
        if index not in known:
            return similarities
        raw = np.ascontiguousarray(self.raw[known])
        encoder = from_journal(FeatureReader, self.encoder.to_dict())
        encoder.observe_rows(raw)
        encoder.refit()
        g, cells = np.empty((len(raw), encoder.columns)), np.empty((len(raw), encoder.trees), dtype=np.int64)
        encoder.encode_rows(raw, g, cells)
        apart = ((g - g[np.searchsorted(known, index)]) ** 2).sum(axis=1)
        usual = 2.0 * float(g.var(axis=0).sum()) * len(raw) / max(len(raw) - 1, 1)
        similarities[known] = reproducible_math.exps(-apart / (2.0 * BANDWIDTH * usual)) if usual > 0.0 else 1.0
        similarities[index] = 0.0
        return similarities

    @classmethod
    def restore(cls, data: Any, raw: Any, arms: int) -> ArmFeatures:
        """Restore from a file: `data` is the encoder's `to_dict`. Raises `ValueError` unless it fits `raw` and the number of arms."""
        encoder = from_journal(FeatureReader, data, Features().limits["width"])
        if encoder.features != Features() or not isinstance(raw, np.ndarray) or raw.dtype != np.float64:
            raise ValueError("its features of arms are not as they are written")
        if raw.shape != (arms, encoder.inputs) or np.isinf(raw).any():
            raise ValueError("its features of arms do not fit its arms")
        return cls(encoder, raw)


def _read(encoder: FeatureReader, arm: Hashable, features: Any) -> Floats:
    """Admit new values among an arm's features, and return its raw row."""
    if features is None:
        return np.empty(0)
    if not isinstance(features, Mapping):
        raise InputError(
            f"Features of an arm are a dict, e.g. {{'category': 'shoes', 'price': 30}}; given {quoted(features):.200} for "
            f"arm {quoted(arm):.100}."
        )
    if not features:
        return np.empty(0)
    try:
        encoder.admit(dict(features))
        return encoder.read(dict(features))
    except InputError as error:
        raise InputError(f"Features of arm {quoted(arm):.100}: {error}") from None


def _table(rows: list[Floats], inputs: int) -> Floats:
    """Stack rows, padded with NaN for inputs that came later."""
    table = np.full((len(rows), inputs), np.nan)
    for row, values in zip(table, rows, strict=True):
        row[: len(values)] = values
    return table
