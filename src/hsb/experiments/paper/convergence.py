"""Section VI-A: how close EXP3 and S-EXP3 come to the best mapping of each, and after how many rounds.

The paper has two sentences about it, and no number: "EXP3 has a fast convergence but it converges to a suboptimal mapping because it does
not use the context information. On the other hand, S-EXP3 converges to the optimal mapping, but needs a huge amount of data to get trained."
"""

from collections.abc import Iterator, Sequence
from typing import Any

from ...evaluate.intervals import mean_interval
from ...evaluate.simulated.comparison import Comparison
from ...types import Floats
from ..base import Claim, claim
from .rates import best_of_depth

EXPERIMENT = "stationary"
EXP3 = "EXP3"
OPTIMUM = 14  # the best mapping of a tree of this depth loses what the best policy does, to six digits
DISTANCE = (
    "Distance: the average loss less the expected loss of the best mapping of the policy's own cells (for EXP3: the best single arm). That "
    "expected loss is computed. "
)
NO_NUMBER = "The paper gives no number for 'fast' or 'a huge amount of data'"
NOTES = {
    "fast": f"{DISTANCE}{NO_NUMBER}. It contrasts the two policies, so they are compared over the same rounds.",
    "suboptimal": "The loss of the best mapping of four cells is computed. With more cells it is smaller.",
    "converges": f"{DISTANCE}Convergence is a limit, which no finite run can show. This claim tests whether the distance falls.",
    "tenfold": f"{DISTANCE}{NO_NUMBER}, nor a depth. This reads it as more than ten times the rounds that EXP3 needs.",
}


def windows(rounds: int) -> list[int]:
    """Return the rounds at which the first tenth ends and the last begins.

    >>> windows(100_000)
    [10000, 90000]
    """
    return [rounds // 10, rounds - rounds // 10]


def s_exp3(depth: int) -> str:
    """Return the name of S-EXP3 of that depth in Figure 5.

    >>> s_exp3(5)
    'S-EXP3, depth 5'
    """
    return f"S-EXP3, depth {depth}"


class Distances:
    """Distances of policies to the best mappings of their own cells, in the first and the last tenth of the rounds.

    >>> import numpy as np
    >>> losses = {"EXP3": np.array([[[0.51, 0.5, 0.5]], [[0.53, 0.5, 0.5]]])}
    >>> Distances(Comparison(marks=np.array([10, 90, 100]), losses=losses)).first("EXP3", 0).round(2)
    array([0.01, 0.03])
    """

    def __init__(self, compared: Comparison) -> None:
        self.compared = compared
        self.early, self.late = windows(int(compared.marks[-1]))

    def first(self, policy: str, depth: int) -> Floats:
        """Return the distance in the first tenth, for each data set."""
        return self.compared.averages(policy, until=self.early) - best_of_depth(depth)

    def last(self, policy: str, depth: int) -> Floats:
        """Return the distance in the last tenth, for each data set."""
        return self.compared.averages(policy, since=self.late) - best_of_depth(depth)


def claims(compared: Comparison, depths: Sequence[int]) -> Iterator[Claim]:
    """Yield the claims of the two sentences: S-EXP3 needs more data than EXP3, EXP3 ends above the optimum, S-EXP3 gets nearer to it."""
    distances = Distances(compared)
    yield from (_fast(distances, depth) for depth in depths)
    yield _suboptimal(distances, min(depths))
    yield from (_converges(distances, depth) for depth in depths)


def readings(compared: Comparison, depths: Sequence[int]) -> Iterator[Claim]:
    """Yield a sharper reading of "a huge amount of data": after ten times the rounds S-EXP3 is still farther away than EXP3."""
    distances = Distances(compared)
    for depth in depths:
        first, last = distances.first(EXP3, 0), distances.last(s_exp3(depth), depth)
        numbers = {"EXP3, first tenth": mean_interval(first)._asdict(), "S-EXP3, last tenth": mean_interval(last)._asdict()}
        text = (
            f"S-EXP3 of depth {depth} needs more than ten times the data: over the last tenth of the rounds it is further from its "
            "best mapping than EXP3 is from the best single arm over the first"
        )
        few = f"with {2**depth} cells these rounds are enough"
        yield claim(
            EXPERIMENT, text, last - first, numbers=numbers, origin="reading", explanation=NOTES["tenfold"], because=few
        )


def _fast(distances: Distances, depth: int) -> Claim:
    mine, rival = distances.first(EXP3, 0), distances.first(s_exp3(depth), depth)
    numbers = {"EXP3": mean_interval(mine)._asdict(), s_exp3(depth): mean_interval(rival)._asdict()}
    text = (
        f"EXP3 converges faster than S-EXP3 of depth {depth}, which needs more data: over the first tenth of the rounds EXP3 is nearer to "
        "the best single arm than S-EXP3 to its best mapping"
    )
    return claim(EXPERIMENT, text, rival - mine, numbers=numbers, explanation=NOTES["fast"])


def _suboptimal(distances: Distances, depth: int) -> Claim:
    above = distances.last(EXP3, depth)
    numbers: dict[str, Any] = {
        "EXP3": mean_interval(above + best_of_depth(depth))._asdict(),
        f"best mapping of {2**depth} cells": best_of_depth(depth),
        "best single arm": best_of_depth(0),
    }
    text = f"EXP3 converges to a suboptimal mapping: over the last tenth of the rounds it loses more than the best mapping of {2**depth} cells"
    return claim(EXPERIMENT, text, above, numbers=numbers, explanation=NOTES["suboptimal"])


def _converges(distances: Distances, depth: int) -> Claim:
    first, last = distances.first(s_exp3(depth), depth), distances.last(s_exp3(depth), depth)
    numbers: dict[str, Any] = {
        "last tenth": mean_interval(last)._asdict(),
        "first tenth": mean_interval(first)._asdict(),
        "best mapping less the best policy": best_of_depth(depth) - best_of_depth(OPTIMUM),
    }
    text = f"S-EXP3 of depth {depth} converges to its best mapping: over the last tenth of the rounds it is nearer to it than over the first"
    return claim(EXPERIMENT, text, first - last, numbers=numbers, explanation=NOTES["converges"])
