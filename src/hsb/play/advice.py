"""What speaks against a replay, and what to do instead."""

from collections.abc import Iterator

FEW = 100  # events that matched: below, an average says little
THIN = 0.1  # a share of events left after thinning that is worth a word

INSTEAD = (
    "Let a policy learn from one part of the log and evaluate it on the other, which uses every event: "
    "hsb train and hsb evaluate, or hsb.learn_from and hsb.evaluate.off_policy. In this replay"
)


def advice(*, rounds: int, rejected: int, matched: int, floor: float, estimated: bool) -> Iterator[str]:
    """Warnings; `floor` is the propensity that the log was thinned to, 1 where it was not.

    >>> [said] = advice(rounds=9969, rejected=9960, matched=0, floor=0.00003, estimated=False)
    >>> said.split(",")[0]
    'Let a policy learn from one part of the log and evaluate it on the other'
    >>> said.split(". ")[1][:53]
    'In this replay 9,960 of 9,969 events were passed over'
    """
    if estimated:
        yield "The propensities are estimates: the thinning is only as fair as they are, and the interval does not have their error."
    kept, chose = rounds - rejected, f"the policy chose the arm that was shown in {_number(matched)}"
    if rejected and (matched < FEW or kept < THIN * rounds):
        odds = f"{floor:.2g} / its propensity, {floor:.2g} being the smallest"
        why = f"their arms were not drawn uniformly, so each was kept with probability {odds}"
        yield f"{INSTEAD} {rejected:,} of {rounds:,} events were passed over: {why}. Of the {kept:,} left {chose}."
    elif matched < FEW:
        yield f"{INSTEAD} {chose} of {rounds:,} events, about one in as many as there are arms: too few for an average."


def _number(count: int) -> str:
    return f"{count:,}" if count else "none"
