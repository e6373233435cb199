"""The estimators: the term of each row of a log.

    w = policy's probability of the arm shown / propensity,  r its reward,  q(a) the model's reward of arm a,  d = sum of policy(a) q(a)

    ips      mean of  w r                                             unbiased
    snips    sum of w r / sum of w                                    less noisy; bias of order 1/n
    direct   mean of  d                                               as good as the model
    dr       mean of  d + w (r - q)                                   unbiased for any model; less noisy if the model is good
    switch   mean of  d + w (r - q) [w <= c]                          uses the model for large weights (Wang et al. 2017)
    clipped  mean of  min(w, c) r                                     too low for large weights (Ionides 2008)

The last two leave out a part of the value, which cannot be estimated from the few events with large weights. But weights are 1 on average, so
the part left out has the weight 1 - E[min(w, c)], which light events determine; and low <= r <= high. Hence the value lies between the means of

    least = low + min(w, c) (r - low)    and    most = high - min(w, c) (high - r),

whose terms are at most c in size, however heavy the events, seen or not. If something was clipped, or the log is not sound, the intervals of
switch and clipped reach from the lower end of the first to the upper end of the second. (Bottou et al. 2013, Section 4.4, bound the rest by
the events seen above c. That is wider, since those few events vary much, and fails if they are missing.)
"""

import numpy as np

from ...types import Floats

ESTIMATORS = ("ips", "snips", "direct", "dr", "switch", "clipped")
WITH_MODEL = ("direct", "dr", "switch")
WITH_CLIP = ("switch", "clipped")
COLUMN = {
    "ips": "w r",
    "snips": "w r",
    "direct": "d",
    "dr": "dr",
    "switch": "switch",
    "clipped": "clipped",
}  # whose mean is the value


def terms(
    w: Floats, r: Floats, d: Floats | None, q: Floats | None, *, clip: float | None, low: float, high: float
) -> dict[str, Floats]:
    """Return every column of terms that can be computed: d, q and clip may be None.

    >>> one = np.ones(1)
    >>> columns = terms(4 * one, one, 0.5 * one, 0.25 * one, clip=2.0, low=0.0, high=1.0)
    >>> {name: float(values[0]) for name, values in columns.items() if name in ("w r", "dr", "switch", "clipped", "least", "most")}
    {'w r': 4.0, 'dr': 3.5, 'clipped': 2.0, 'least': 2.0, 'most': 1.0, 'switch': 0.5}
    """
    columns = {"1": np.ones(len(w)), "w": w, "w r": w * r}
    if d is not None and q is not None:
        columns |= {"d": d, "dr": d + w * (r - q)}
    if clip is not None:
        v = np.minimum(w, clip)
        columns |= {"clipped": v * r, "least": low + v * (r - low), "most": high - v * (high - r)}
        if d is not None and q is not None:
            columns["switch"] = d + np.where(w <= clip, w, 0.0) * (r - q)
    return columns


def allowance(estimator: str, value: float, unseen: float, low: float, high: float) -> tuple[float, float]:
    """Return how far the two ends move if events of weight `unseen` in all are missing, with the lowest and the highest reward.

    >>> allowance("snips", 0.25, 0.02, 0.0, 1.0), allowance("ips", 0.25, 0.02, 0.0, 1.0)
    ((0.005, 0.015), (0.0, 0.02))
    """
    if estimator in ("ips", "clipped"):  # their terms are w r: missing events count as 0
        return unseen * abs(min(low, 0.0)), unseen * max(high, 0.0)
    return unseen * max(value - low, 0.0), unseen * max(high - value, 0.0)
