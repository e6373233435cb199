"""An encoder as plain data and arrays, and back: the journal is replayed, the counts are checked."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.kernels.inputs import (
    BITS,
    CELLS,
    COARSE,
    COUNT,
    EDGE,
    EDGES,
    HIGH,
    HUGE,
    KIND,
    LOW,
    M2,
    MAX,
    MEAN,
    MIN,
    NUMBER,
    OUTSIDE,
    RECENT,
    ROWS,
    SAMPLE,
    SCALE,
    SETTLED,
    SHARED,
    SHIFT,
    SINCE,
    UNSEEN,
)
from ..types import Arrays
from .declared import Features
from .feature import stable
from .knowledge import fits
from .values import CATEGORY, TAGS

if TYPE_CHECKING:
    from .reader import FeatureReader

COUNTS = [ROWS, UNSEEN, SHARED]
MOMENTS = [COUNT, MEAN, M2, SHIFT, SCALE, SETTLED, OUTSIDE, SINCE]
RANGES = [MIN, MAX, LOW, HIGH]
WIDEST = 1 << 20


def to_dict(reader: "FeatureReader") -> dict[str, Any]:
    """Return the declaration and the journal, for JSON."""
    journal = [list(event) for event in reader.knowledge.journal]
    return {"features": reader.features.to_dict(), "width": reader.width, "journal": journal}


def to_arrays(reader: "FeatureReader") -> Arrays:
    """Return copies of the counts."""
    layout, inputs = reader.layout, reader.inputs
    return {
        "counts": layout.head[COUNTS],
        "moments": layout.F[:inputs, MOMENTS],
        "cuts": layout.I[:inputs, EDGES].copy(),
        "coarse": layout.I[:inputs, COARSE].copy(),
        "ranges": layout.F[:inputs, RANGES],
        "edges": layout.F[:inputs, EDGE:].copy(),
        "sample": reader.sample.copy(),
        "recent": layout.recent[:inputs].copy(),
    }


def from_journal(make: type["FeatureReader"], data: Any, needed: int | None = None) -> "FeatureReader":
    """Return a new encoder that has replayed a journal. Raises `ValueError` if the journal or the width does not fit."""
    if not isinstance(data, dict) or set(data) != {"features", "width", "journal"}:
        raise ValueError("its encoder is not as to_dict writes it")
    width, journal = data["width"], data["journal"]
    if type(width) is not int or not 2 <= width <= WIDEST or not isinstance(journal, list):
        raise ValueError("its encoder has no width or no journal")
    if needed is not None and width != needed:
        raise ValueError(f"its encoder has width {width}, but its arms and features need {needed}")
    reader = make(Features.from_dict(data["features"]), width)
    for event in journal:
        if not isinstance(event, list) or any(isinstance(part, bool) for part in event) or not fits(reader.knowledge, event):
            raise ValueError(f"its encoder's journal does not fit at {event!r:.100}")
        reader.knowledge.apply(list(event))
    reader.refresh()
    return reader


TRIES = 1 << 16  # for a name with the same column


def rename_values(reader: "FeatureReader", rename: Callable[[str, int], str | None]) -> "FeatureReader | None":
    """Return a copy of the reader with new names for some categories and tags; None if all names stay.

    `rename(name, tries)` returns a new name, or None to keep it. It is called again while the new name is in use or would have another
    column, since shared columns follow from names.
    """
    knowledge, width, crowded = reader.knowledge, reader.width, reader.layout.crowded > 0
    journal, has_changed = [], False
    names = [set(column.codes) for column in knowledge.listed]
    for event in knowledge.journal:
        column = knowledge.listed[event[1]] if event[0] == "value" else None
        if column is not None and column.kind in (CATEGORY, TAGS):
            start, most = f"{column.name}{'=' if column.kind == CATEGORY else ': '}", reader.features.limits["text"]
            for tries in range(TRIES):
                new = rename(event[2], tries)
                if new is None:
                    break
                same = not crowded or stable(start + new[:most]) % (width - 1) == stable(start + event[2]) % (width - 1)
                if same and new[:most] not in names[event[1]]:
                    names[event[1]].add(new[:most])
                    event, has_changed = [event[0], event[1], new[:most]], True
                    break
        journal.append(list(event))
    if not has_changed:
        return None
    result = from_journal(type(reader), to_dict(reader) | {"journal": journal})
    take_arrays(result, to_arrays(reader))
    return result


def take_arrays(reader: "FeatureReader", arrays: Arrays) -> None:
    """Set the counts from `to_arrays`. Raises `ValueError` if they do not fit."""
    loaded = {name: _shaped(arrays, name, "i") for name in ("counts", "cuts", "coarse")}
    loaded |= {name: _shaped(arrays, name, "f") for name in ("moments", "ranges", "edges", "sample", "recent")}
    inputs, layout = reader.inputs, reader.layout
    rows = int(loaded["counts"][0]) if loaded["counts"].shape == (len(COUNTS),) else -1
    shapes = {
        "counts": (len(COUNTS),),
        "ranges": (inputs, len(RANGES)),
        "recent": (inputs, RECENT),
        "moments": (inputs, len(MOMENTS)),
        "cuts": (inputs,),
        "coarse": (inputs,),
        "edges": (inputs, CELLS - 1),
    }
    shapes["sample"] = (min(max(rows, 0), SAMPLE), inputs)
    for name, shape in shapes.items():
        if loaded[name].shape != shape:
            raise ValueError(f"its encoder's {name} do not fit its journal")
    moments = loaded["moments"]
    mean, others = moments[:, [1, 3]], moments[:, [0, 2, 4, 5, 6, 7]]  # means and shifts; numbers that are not negative
    sound = np.isfinite(moments).all() and (np.abs(mean) <= HUGE).all() and (others >= 0.0).all()
    sound = (
        sound
        and (moments[:, 6] <= 1.0).all()
        and (moments[:, 7] <= max(rows, 0)).all()
        and bool((np.abs(loaded["ranges"]) <= HUGE).all())
    )
    if not sound or (loaded["counts"] < 0).any() or rows > 1 << 62:
        raise ValueError("its encoder's counts and moments are not possible")
    _check_edges(loaded["cuts"], loaded["edges"], layout.I[:inputs, KIND] == NUMBER)
    if ((loaded["coarse"] < 0) | (loaded["coarse"] > np.where(layout.I[:inputs, KIND] == NUMBER, BITS - 1, 0))).any():
        raise ValueError("its encoder's precision is not possible")
    layout.I[:inputs, COARSE] = loaded["coarse"]
    layout.head[COUNTS] = loaded["counts"]
    layout.F[:inputs, MOMENTS] = moments
    layout.F[:inputs, RANGES] = loaded["ranges"]
    layout.F[:inputs, EDGE:] = loaded["edges"]
    layout.recent[:inputs] = loaded["recent"]
    layout.I[:inputs, EDGES] = loaded["cuts"]
    layout.reservoir[:inputs, : len(loaded["sample"])] = loaded["sample"].T


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
