"""Prior of a mapping on all sets of leaves, and on a hierarchy of the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Floats
from .logs import NEVER, log, log_sum


def subsets(mapping: NDArray[np.int64], values: Floats) -> float:
    """ln beta of the set of all leaves. Sets are bit masks; a part is smaller as a number than the whole, so comes first."""
    n = len(mapping)
    weight = np.full(1 << n, NEVER)
    for whole in range(1, 1 << n):
        members = [leaf for leaf in range(n) if whole >> leaf & 1]
        parts = np.array([1 << members[0]])  # every part with the first member, the whole last
        for leaf in members[1:]:
            parts = np.concatenate([parts, parts | 1 << leaf])
        constant = (mapping[members] == mapping[members[0]]).all()
        terms = np.append(weight[parts[:-1]] + weight[whole ^ parts[:-1]], values[mapping[members[0]]] if constant else NEVER)
        weight[whole] = log_sum(terms) - log(len(terms))
    return float(weight[-1])


def hierarchy(mapping: NDArray[np.int64], nodes: Mapping[str, Mapping[str, Any]], root: str, values: Floats) -> float:
    """ln beta of the root, children first."""
    weight: dict[str, float] = {}
    waiting = [root]
    while waiting:
        name = waiting[-1]
        groups = nodes[name]["groups"]
        missing = [child for group in groups for child in group if child not in weight]
        if missing:
            waiting += missing
            continue
        waiting.pop()
        if name in weight:
            continue
        own = mapping[nodes[name]["leaves"]]
        terms = [float(values[own[0]]) if (own == own[0]).all() else NEVER]
        terms += [sum(weight[child] for child in group) for group in groups]
        weight[name] = float(log_sum(np.array(terms))) - log(len(terms))
    return weight[root]
