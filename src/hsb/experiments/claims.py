"""A claim is a paired difference with its interval."""

from typing import Any

from numpy.typing import ArrayLike

from ..evaluate.intervals import paired_interval
from .base import Claim


def claim(
    experiment: str,
    text: str,
    differences: ArrayLike,
    *,
    numbers: dict[str, Any] | None = None,
    source: str = "paper",
    explanation: str = "",
    tie: str = "",
    fails: str = "",
) -> Claim:
    """Weigh a claim by one difference per independent repetition, positive where the claim is true.

    It holds where the 95% interval of the mean difference lies above 0, fails where it lies below, and is a tie (None) otherwise.
    `explanation` is given in any case; `tie` and `fails` are added where it comes to that.

    >>> claim("toy", "a beats b", [0.1, 0.2, 0.15]).holds, claim("toy", "a beats b", [0.1, -0.2, 0.05]).holds
    (True, None)
    """
    mean, low, high = paired_interval(differences)
    holds = True if low > 0 else False if high < 0 else None
    more = {True: "", None: tie, False: fails}[holds]
    why = " ".join(part for part in (explanation, more) if part)
    return Claim(experiment, text, holds, mean, low, high, numbers=dict(numbers or {}), source=source, explanation=why)
