"""The estimators: what each makes of a row of a log.

    w = policy's probability of the arm shown / propensity,  r its reward,  q(a) the model's reward of arm a,  d = sum of policy(a) q(a)

    ips      mean of  w r                                             unbiased
    snips    sum of w r / sum of w                                    less noisy; bias of order 1/n
    direct   mean of  d                                               as good as the model
    dr       mean of  d + w (r - q)                                   unbiased whatever the model; less noisy where it is good
    switch   mean of  d + w (r - q) [w <= c]                          trusts the model where weights are large (Wang et al. 2017)
    clipped  mean of  min(w, c) r                                     too low where weights are large (Ionides 2008)

The last two leave something out. Since low <= r <= high, what it is worth lies between what rows with large weights would give with
the lowest and with the highest reward: their intervals reach from the lower end of the one to the upper end of the other
(after Bottou et al. 2013, Section 4.4).
"""

import numpy as np

from ..types import Floats

ESTIMATORS = ("ips", "snips", "direct", "dr", "switch", "clipped")
WITH_MODEL = ("direct", "dr", "switch")
WITH_CLIP = ("switch", "clipped")
COLUMNS = {  # the terms of an estimator: for its value, and for the two ends of its interval
    "ips": ("w r", "w r", "w r"),
    "snips": ("w r", "w r", "w r"),
    "direct": ("d", "d", "d"),
    "dr": ("dr", "dr", "dr"),
    "switch": ("switch", "switch low", "switch high"),
    "clipped": ("clipped", "clipped low", "clipped high"),
}


def terms(
    w: Floats, r: Floats, d: Floats | None, q: Floats | None, *, clip: float | None, low: float, high: float
) -> dict[str, Floats]:
    """Every column of terms that can be computed: d, q and clip may be None.

    >>> one = np.ones(1)
    >>> columns = terms(4 * one, one, 0.5 * one, 0.25 * one, clip=2.0, low=0.0, high=1.0)
    >>> {name: float(values[0]) for name, values in columns.items() if name in ("w r", "dr", "switch", "clipped", "clipped high")}
    {'w r': 4.0, 'dr': 3.5, 'switch': 0.5, 'clipped': 2.0, 'clipped high': 4.0}
    """
    columns = {"1": np.ones(len(w)), "w": w, "w r": w * r}
    if d is not None and q is not None:
        columns |= {"d": d, "dr": d + w * (r - q)}
        if clip is not None:
            kept = np.where(w <= clip, w, 0.0)
            term, left = d + kept * (r - q), w - kept
            columns |= {"switch": term, "switch low": term + left * (low - q), "switch high": term + left * (high - q)}
    if clip is not None:
        kept = np.minimum(w, clip)
        term, left = kept * r, w - kept
        columns |= {"clipped": term, "clipped low": term + left * low, "clipped high": term + left * high}
    return columns


def widths(estimator: str, most: float, clip: float, low: float, high: float) -> tuple[float, float]:
    """How wide the range of the lower and of the upper terms is, for weights of at most `most`.

    >>> widths("ips", 10.0, 5.0, 0.0, 1.0), widths("clipped", 10.0, 5.0, 0.0, 1.0), widths("dr", 10.0, 5.0, 0.0, 1.0)
    ((10.0, 10.0), (5.0, 10.0), (21.0, 21.0))
    """
    reach, c = high - low, min(most, clip)
    if estimator == "direct":
        return reach, reach
    if estimator in ("dr", "switch"):
        wide = reach * (1.0 + (most if estimator == "dr" else c) + most)
        return wide, wide
    if estimator != "clipped":
        c = most
    lower = max(high, 0.0) * c + max(low, 0.0) * (most - c) - min(low, 0.0) * most
    upper = max(high, 0.0) * most - min(low, 0.0) * c - min(high, 0.0) * (most - c)
    return lower, upper
