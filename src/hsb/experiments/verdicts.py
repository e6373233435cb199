"""Summaries of claims: a correction for their number, counts by origin, failures with reasons, and what would decide a tie."""

from collections.abc import Sequence
from dataclasses import replace

from .base import Claim, Origin

LEVEL = 0.05
WORDS: dict[bool | None, str] = {True: "holds", False: "does not hold", None: "tie"}
ORIGINS: dict[Origin, str] = {
    "paper": "the paper's",
    "reading": "the paper's, other readings",
    "identity": "an identity",
    "own": "our own",
}


def corrected(claims: Sequence[Claim]) -> list[Claim]:
    """Return the claims with `jointly` set by Holm's step-down correction over all claims of the same origin.

    Of m claims the one with the smallest p needs p <= 0.05/m, the next p <= 0.05/(m-1), and so on. From the first claim that misses its limit
    all are ties. The probability that any verdict of an origin is wrong is then at most 5%, however the claims depend on each other
    (Holm 1979). Identities are computed, so their verdicts stay.

    >>> some = [Claim("toy", f"claim {p}", True, 0.2, 0.1, 0.3, p=p) for p in (0.04, 0.01, 0.03)]
    >>> [claim.jointly for claim in corrected(some)]
    [None, True, None]
    """
    result = list(claims)
    for origin in ORIGINS:
        family = sorted((i for i, claim in enumerate(claims) if claim.origin == origin), key=lambda i: claims[i].p)
        stands = True
        for rank, i in enumerate(family):
            stands = stands and (origin == "identity" or claims[i].p <= LEVEL / (len(family) - rank))
            result[i] = replace(claims[i], jointly=claims[i].holds if stands else None)
    return result


def tally(claims: Sequence[Claim]) -> dict[bool | None, int]:
    """Count the claims that hold (True), do not hold (False) and are ties (None).

    >>> tally([Claim("toy", "a beats b", True, 0.2, 0.1, 0.3)])
    {True: 1, False: 0, None: 0}
    """
    return {verdict: sum(claim.holds is verdict for claim in claims) for verdict in WORDS}


def count(claims: Sequence[Claim]) -> str:
    """Count the verdicts in words, for each origin.

    >>> count([Claim("toy", "a beats b", True, 0.2, 0.1, 0.3), Claim("toy", "b beats c", None, 0.1, -0.1, 0.3)])
    "The paper's: 1 of 2 claims holds, 0 do not, 1 is a tie."
    """
    sentences = []
    for origin, name in ORIGINS.items():
        if family := [claim for claim in claims if claim.origin == origin]:
            only = len(family) == len(claims) and origin == "own"  # a user's comparison has no other origin
            whose = {"identity": "identities"}.get(origin, name)
            sentences.append(
                ("" if only else f"{whose[0].upper()}{whose[1:]}: ") + _count_words([claim.holds for claim in family])
            )
    return " ".join(sentences)


def changed(claims: Sequence[Claim]) -> str:
    """Describe the effect of the correction on the paper's claims, or on the user's if the paper makes no claim; "" for a single claim.

    >>> some = [Claim("toy", f"claim {p}", True, 0.2, 0.1, 0.3, p=p) for p in (0.04, 0.01, 0.03)]
    >>> changed(corrected(some))
    "After Holm's correction for 3 comparisons: 1 of 3 claims holds, 0 do not, 2 are ties. New ties: claim 0.04; claim 0.03."
    """
    families = [[claim for claim in claims if claim.origin == origin] for origin in ("paper", "own")]
    family = next((each for each in families if each), [])
    if len(family) < 2:
        return ""  # nothing to correct for
    whose = " of the paper's" if len(family) < len(claims) else ""
    start = f"After Holm's correction for {len(family)}{whose} comparisons: {_count_words([claim.jointly for claim in family])}"
    ties = [claim.claim for claim in family if claim.jointly is not claim.holds]
    return f"{start} New ties: {'; '.join(ties)}." if ties else f"{start} No verdict changes."


def failures(claims: Sequence[Claim]) -> list[str]:
    """Return a line for each claim that does not hold, with its difference and the reason; the paper's claims first.

    >>> failures([Claim("toy", "a beats b", False, -0.2, -0.3, -0.1, jointly=False, because="b knows the horizon")])
    ["does not hold: a beats b (the paper's), because the difference is -0.2 (95%: -0.3 to -0.1): b knows the horizon."]
    """
    return [_failure(claim) for origin in ORIGINS for claim in claims if claim.origin == origin and claim.holds is False]


def is_tie(claim: Claim) -> bool:
    """Return True if a claim is a tie, before or after the correction for all claims of its origin.

    >>> is_tie(Claim("toy", "a beats b", True, 0.2, 0.1, 0.3, jointly=None))
    True
    """
    return claim.holds is None or claim.jointly is None


def decisions(claims: Sequence[Claim]) -> list[str]:
    """Return what would decide the ties: a line for each such sentence, with its ties.

    >>> more = {"jointly": None, "decided_by": "hsb reproduce toy --visits 9 decides it."}
    >>> decisions([Claim("toy", "a beats b", None, 0.2, -0.1, 0.3, **more), Claim("toy", "a beats c", True, 0.2, 0.1, 0.3, **more)])
    ['tie: a beats b; a beats c (after the correction). For each: hsb reproduce toy --visits 9 decides it.']
    """
    ties: dict[str, list[str]] = {}
    for claim in claims:
        if is_tie(claim) and claim.decided_by:
            ties.setdefault(claim.decided_by, []).append(claim.claim + " (after the correction)" * (claim.holds is not None))
    return [f"tie: {'; '.join(names)}. {'For each: ' * (len(names) > 1)}{how}" for how, names in ties.items()]


def explained(claim: Claim) -> str:
    """Return a claim's explanation, and for a tie what would decide it.

    >>> explained(Claim("toy", "a beats b", None, 0.2, -0.1, 0.3, explanation="Few rounds.", decided_by="More rounds decide it."))
    'Few rounds. More rounds decide it.'
    """
    return " ".join(part for part in (claim.explanation, claim.decided_by if is_tie(claim) else "") if part)


def _failure(claim: Claim) -> str:
    interval = f"(95%: {claim.low:.4g} to {claim.high:.4g})"
    why = f": {claim.because}" if claim.because else ""
    only = "; after the correction it is a tie" if claim.jointly is not False else ""
    statement = f"{claim.claim} ({ORIGINS[claim.origin]})"
    return f"{WORDS[False]}: {statement}, because the difference is {claim.difference:.4g} {interval}{why}{only}."


def _count_words(verdicts: Sequence[bool | None]) -> str:
    holding, failing, ties = (sum(each is verdict for each in verdicts) for verdict in (True, False, None))
    hold = "holds" if holding == 1 else "hold"
    fail = "does not" if failing == 1 else "do not"
    tie = "is a tie" if ties == 1 else "are ties"
    return f"{holding} of {len(verdicts)} claims {hold}, {failing} {fail}, {ties} {tie}."
