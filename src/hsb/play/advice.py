"""Warnings about a replay, and what to do instead."""

from collections.abc import Iterator

FEW = 100  # matched events below which an average is too imprecise
THIN = 0.1  # share of events left after thinning below which a warning is given

INSTEAD = (
    "Let a policy learn from one part of the log and evaluate it on the other, which uses every event: "
    "hsb train and hsb evaluate, or hsb.learn_from and hsb.evaluate.off_policy. In this replay"
)


def advice(*, rounds: int, rejected: int, matched: int, floor: float, estimated: bool) -> Iterator[str]:
    """Yield warnings; `floor` is the propensity that the log was thinned to, 1 if it was not thinned.

    >>> [warning] = advice(rounds=9969, rejected=9960, matched=0, floor=0.00003, estimated=False)
    >>> warning.split(",")[0]
    'Let a policy learn from one part of the log and evaluate it on the other'
    >>> warning.split(". ")[1][:49]
    'In this replay 9,960 of 9,969 events were skipped'
    """
    if estimated:
        yield "The propensities are estimates: their error biases the thinning, and the interval does not include it."
    kept, chose = rounds - rejected, f"the policy chose the arm shown in {_count(matched)}"
    if rejected and (matched < FEW or kept < THIN * rounds):
        odds = f"{floor:.2g} / its propensity, {floor:.2g} being the smallest"
        why = f"arms were not drawn uniformly, so each event was kept with probability {odds}"
        yield f"{INSTEAD} {rejected:,} of {rounds:,} events were skipped: {why}. Of the {kept:,} left, {chose}."
    elif matched < FEW:
        yield f"{INSTEAD} {chose} of {rounds:,} events: too few for an average. With K arms about one event in K matches."


def _count(count: int) -> str:
    return f"{count:,}" if count else "none"
