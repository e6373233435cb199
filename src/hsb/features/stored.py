"""An encoder as plain data and arrays, and back: what the journal says is replayed, what was counted is checked."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.kernels.slots import (
    CELLS,
    COUNT,
    EDGE,
    EDGES,
    HUGE,
    KIND,
    M2,
    MEAN,
    NUMBER,
    ROWS,
    SAMPLE,
    SCALE,
    SETTLED,
    SHARED,
    SHIFT,
    UNSEEN,
)
from ..types import Arrays
from .declared import Features
from .knowledge import fits

if TYPE_CHECKING:
    from .reader import FeatureReader

COUNTS = [ROWS, UNSEEN, SHARED]
MOMENTS = [COUNT, MEAN, M2, SHIFT, SCALE, SETTLED]
WIDEST = 1 << 20


def to_dict(reader: "FeatureReader") -> dict[str, Any]:
    """The declaration and the journal, for JSON."""
    journal = [list(event) for event in reader.knowledge.journal]
    return {"features": reader.features.to_dict(), "width": reader.width, "journal": journal}


def to_arrays(reader: "FeatureReader") -> Arrays:
    """What was counted, as copies."""
    layout, slots = reader.layout, reader.slots
    return {
        "counts": layout.head[COUNTS],
        "moments": layout.F[:slots, MOMENTS],
        "cuts": layout.I[:slots, EDGES].copy(),
        "edges": layout.F[:slots, EDGE:].copy(),
        "sample": reader.sample.copy(),
    }


def from_journal(make: type["FeatureReader"], data: Any) -> "FeatureReader":
    """A fresh encoder that has admitted what a journal says; ValueError where it does not fit."""
    if not isinstance(data, dict) or set(data) != {"features", "width", "journal"}:
        raise ValueError("its encoder is not as to_dict writes it")
    width, journal = data["width"], data["journal"]
    if type(width) is not int or not 2 <= width <= WIDEST or not isinstance(journal, list):
        raise ValueError("its encoder has no width or no journal")
    reader = make(Features.from_dict(data["features"]), width)
    for event in journal:
        if not isinstance(event, list) or any(isinstance(part, bool) for part in event) or not fits(reader.knowledge, event):
            raise ValueError(f"its encoder's journal does not fit at {event!r:.100}")
        reader.knowledge.apply(list(event))
    reader.refresh()
    return reader


def take_arrays(reader: "FeatureReader", arrays: Arrays) -> None:
    """Take over what `to_arrays` gave; ValueError where it does not fit."""
    given = {name: _shaped(arrays, name, dtype) for name, dtype in (("counts", "i"), ("cuts", "i"))}
    given |= {name: _shaped(arrays, name, "f") for name in ("moments", "edges", "sample")}
    slots, layout = reader.slots, reader.layout
    rows = int(given["counts"][0]) if given["counts"].shape == (len(COUNTS),) else -1
    shapes = {"counts": (3,), "moments": (slots, len(MOMENTS)), "cuts": (slots,), "edges": (slots, CELLS - 1)}
    shapes["sample"] = (min(max(rows, 0), SAMPLE), slots)
    for name, shape in shapes.items():
        if given[name].shape != shape:
            raise ValueError(f"its encoder's {name} do not fit its journal")
    moments = given["moments"]
    mean, others = moments[:, [1, 3]], moments[:, [0, 2, 4, 5]]  # means and shifts; what cannot be below 0
    sound = np.isfinite(moments).all() and (np.abs(mean) <= HUGE).all() and (others >= 0.0).all()
    if not sound or (given["counts"] < 0).any() or rows > 1 << 62:
        raise ValueError("its encoder's counts and moments are not possible")
    _check_edges(given["cuts"], given["edges"], layout.I[:slots, KIND] == NUMBER)
    layout.head[COUNTS] = given["counts"]
    layout.F[:slots, MOMENTS] = moments
    layout.F[:slots, EDGE:] = given["edges"]
    layout.I[:slots, EDGES] = given["cuts"]
    layout.reservoir[:slots, : len(given["sample"])] = given["sample"].T


def _shaped(arrays: Arrays, name: str, kind: str) -> Any:
    array = arrays.get(name)
    if not isinstance(array, np.ndarray) or array.dtype.kind != kind or array.dtype.itemsize != 8:
        raise ValueError(f"its encoder has no {name}")
    return array


def _check_edges(cuts: Any, edges: Any, numbers: Any) -> None:
    if ((cuts < 0) | (cuts > np.where(numbers, CELLS - 1, 0))).any():
        raise ValueError("its encoder's cuts are not possible")
    for k, row in zip(cuts.tolist(), edges, strict=True):
        if np.isnan(row).any() or (row[:k][1:] <= row[:k][:-1]).any() or row[k:].any():
            raise ValueError("its encoder's edges do not ascend")
