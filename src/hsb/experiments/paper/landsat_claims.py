"""Claims about LandSat under four ways to make codewords: the paper's under each, and our own."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...evaluate.intervals import mean_interval, paired_interval
from ...types import Floats, Ints
from ..base import Claim, Origin, claim
from .data import LABELS

EPOCHS = 9
HAMMING = "Hamming decoding"
APS, BT, S_EXP3, EXP3, OURS = "HSB-APS", "HSB-BT", "S-EXP3", "EXP3", "HSB default"
BT_SHUFFLED = "HSB-BT, bits in a random order"
LEARNERS = (APS, BT, S_EXP3, EXP3)  # the paper's
UNSPECIFIED = (
    "The paper does not say whether the 36 integers are scaled before the perceptrons see them, nor whether a perceptron predicts with its "
    "latest weights or with their average. Figure 8 here has features standardised with the rows seen so far, and latest weights; the report "
    "also has the other choices, and the table of claims shows which of the paper's claims change with them."
)


def claims(errors: dict[str, Floats]) -> list[Claim]:
    """Return the paper's claims and ours; `errors` has a row for each repetition and a column for each epoch."""
    return paper(errors) + own(errors)


def paper(errors: dict[str, Floats], variant: str = "") -> list[Claim]:
    """Return the paper's nine claims. Under a `variant` that Figure 8 does not show, they are another reading of the paper."""
    origin: Origin = "reading" if variant else "paper"
    beside = f" ({variant})" if variant else ""
    late = {name: rows[:, -3:].mean(axis=1) for name, rows in errors.items()}
    weighed = []
    for name in (APS, BT, S_EXP3):
        gap = errors[name] - errors[HAMMING]
        first, last = gap[:, 0], gap[:, -3:].mean(axis=1)
        numbers: dict[str, Any] = {
            "first epoch": mean_interval(first)._asdict(),
            "last three epochs": mean_interval(last)._asdict(),
        }
        numbers["unit"] = "error of the learner less that of Hamming decoding"
        text = (
            f"{name} catches up with Hamming decoding: it is further behind in the first epoch than in the last three{beside}"
        )
        weighed.append(claim("landsat", text, first - last, numbers=numbers, origin=origin))
    for name in (BT, S_EXP3, EXP3):
        why, because = ("", "") if variant or name != BT else (WHY_NOT_BEST, _lucky(late))
        text = f"{APS} errs less than {name} in the last three epochs{beside}"
        weighed.append(_less(late, APS, name, text, why, origin, because))
    for epoch in range(EPOCHS - 3, EPOCHS):
        column = {name: rows[:, epoch] for name, rows in errors.items()}
        text, why = f"{APS} errs less than {HAMMING} in epoch {epoch + 1}{beside}", "" if variant else WHY_TIE
        weighed.append(_less(column, APS, HAMMING, text, why, origin))
    return weighed


def own(errors: dict[str, Floats]) -> list[Claim]:
    """Return our own claims."""
    late = {name: rows[:, -3:].mean(axis=1) for name, rows in errors.items()}
    text = f"{APS} errs less than {BT} with the bits in a random order, in the last three epochs"
    weighed = [_less(late, APS, BT_SHUFFLED, text, origin="own")]
    for name in (APS, BT, OURS):
        text = f"{name} errs less than {HAMMING} over the last three epochs together"
        weighed.append(_less(late, name, HAMMING, text, origin="own"))
    return weighed


def repetitions_needed(differences: Sequence[float] | Floats) -> int | None:
    """Return about how many repetitions a tie needs until its 95% interval excludes 0, if mean and standard deviation stay.

    None if the mean is 0 or if there is a single repetition.

    >>> differences = [0.1, -0.1, 0.2, -0.1]  # 0.025 on average, with a standard deviation of 0.15
    >>> repetitions_needed(differences)
    139
    """
    mean = float(np.mean(differences))
    if not mean or len(differences) < 2:
        return None
    return math.ceil((1.96 * float(np.std(differences, ddof=1)) / mean) ** 2)


def _less(
    errors: dict[str, Floats], ours: str, rival: str, text: str, why: str = "", origin: Origin = "paper", because: str = ""
) -> Claim:
    numbers = {name: mean_interval(errors[name])._asdict() for name in (ours, rival)}
    differences = errors[rival] - errors[ours]
    details = {"tie": why, "fails": why, "because": because, "decided_by": _decided_by(differences)}
    return claim("landsat", text, differences, numbers=numbers, origin=origin, **details)


def _decided_by(differences: Floats) -> str:
    """Describe how many repetitions would decide a tie; "" if it is no tie or needs no more."""
    needed, ran = repetitions_needed(differences), len(differences)
    if needed is None or needed <= ran:
        return ""
    times = needed / ran
    return (
        f"Its sign would show after about {times:.{0 if times >= 10 else 1}f} times the {ran} repetitions, if difference and spread stay; "
        "--quick apart, no option changes their number."
    )


def _lucky(late: dict[str, Floats]) -> str:
    """Explain why the tree errs less: compare it with trees whose bits are in a random order."""
    gain = paired_interval(late[BT_SHUFFLED] - late[APS])
    return (
        "the tree tests the bits in the labels' order, one of many; against trees with a random order the difference is "
        f"{gain.mean:+.4f} (95%: {gain.low:+.4f} to {gain.high:+.4f})"
    )


WHY_NOT_BEST = (
    "The tree tests the bits in one fixed order, here that of the labels, which may suit it by chance; splitting at any position needs no "
    "order. The claim below draws the tree's order at random in each repetition."
)
WHY_TIE = (
    "In this epoch little can be gained over the nearest class. The paper leaves open how codewords are made, and that choice changes "
    "such small differences (see the table of claims)."
)


def notes(errors: dict[str, Floats], shuffled: dict[str, Floats], counts: Ints) -> list[str]:
    """Return notes about the results; `counts` are the rows of each class in each epoch."""
    late = {name: rows[:, -3:].mean() for name, rows in shuffled.items()}
    best = min(LEARNERS, key=lambda name: float(errors[name].mean()))
    behind = (errors[OURS] - errors[best]).mean(axis=0)
    worst = int(behind.argmax())
    remarks = [
        UNSPECIFIED,
        "There is one data set in one order. Intervals cover the random draws (arms, ties, the order of the bits), not other data.",
        "Rows are neighbours in a picture, so the mix of classes and every error change from epoch to epoch. In shuffled "
        f"orders, without neighbours, {HAMMING} errs {late[HAMMING]:.1%} in the last three epochs, {APS} {late[APS]:.1%}, "
        f"{BT} {late[BT]:.1%}, {OURS} {late[OURS]:.1%}.",
        f"{OURS} has no rate to set: it errs {errors[OURS][:, 0].mean():.1%} in the first epoch and {errors[OURS].mean():.1%} over all; "
        f"the best of the paper's learners over all epochs is {best} with {errors[best].mean():.1%}.",
    ]
    if behind[worst] > 0.05:
        before = counts[:worst].sum(axis=0)
        new = int((counts[worst] - before).argmax())
        label, ground = list(LABELS.items())[new]
        remarks.append(
            f"{OURS} is furthest behind {best} in epoch {worst + 1}, by {behind[worst]:.1%}. Class {label} ({ground}) has {before[new]} rows "
            f"before that epoch and {counts[worst, new]} in it; its codewords are new, and the policy must learn their class by trial."
        )
    return remarks
