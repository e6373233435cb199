"""Claims taken together: Holm's correction against its definition, and counts by origin."""

import numpy as np
import pytest

from hsb.experiments.base import Claim, claim
from hsb.experiments.verdicts import changed, corrected, count, decisions, explained, failures, is_tie


def made(p, origin="paper", holds=True):
    return Claim("toy", f"claim {p}", holds, 0.2, 0.1, 0.3, origin=origin, p=p)


def adjusted(ps):
    """Holm's adjusted p-values as the textbooks have them: the running maximum of (m - rank) p."""
    order = np.argsort(ps, kind="stable")
    result, largest = np.empty(len(ps)), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, (len(ps) - rank) * ps[i])
        result[i] = largest
    return result


def test_it_is_holm_s():
    rng = np.random.default_rng(0)
    for _ in range(200):
        ps = rng.random(int(rng.integers(1, 12))) ** 4
        assert [each.jointly for each in corrected([made(p) for p in ps])] == [
            True if p <= 0.05 else None for p in adjusted(ps)
        ]


def test_each_origin_is_a_family_of_its_own_and_identities_stay():
    claims = [
        made(0.04),
        made(0.04, "own"),
        made(0.04, "identity"),
        made(0.04, "identity"),
        made(0.001, "reading", holds=False),
    ]
    assert [each.jointly for each in corrected(claims)] == [True, True, True, True, False]
    assert [each.jointly for each in corrected([*claims, made(0.04)])] == [None, True, True, True, False, None]
    assert count(claims) == (
        "The paper's: 1 of 1 claims holds, 0 do not, 0 are ties. The paper's, other readings: 0 of 1 claims hold, 1 does not, 0 are ties. "
        "Identities: 2 of 2 claims hold, 0 do not, 0 are ties. Our own: 1 of 1 claims holds, 0 do not, 0 are ties."
    )
    assert changed(corrected(claims)) == ""  # a single one of the paper's: nothing to correct for
    sure = changed(corrected([*claims, made(0.001), made(0.02)]))
    assert sure.startswith("After Holm's correction for 3 of the paper's comparisons: 3 of 3") and "No verdict changes." in sure
    assert changed(corrected([*claims, made(0.04)])).endswith("New ties: claim 0.04; claim 0.04.")
    assert changed([]) == "" and count([made(0.01, "own")]) == "1 of 1 claims holds, 0 do not, 0 are ties."


@pytest.mark.parametrize("correct", [True, False])
def test_of_many_claims_without_a_difference_some_hold_by_chance(correct):
    """40 claims of which none is true, 400 times: without a correction 87% of such reports have a false verdict (control), with it at most 5%
    (here 0.05 + 3 standard errors)."""
    rng = np.random.default_rng(2)
    wrong = 0
    for _ in range(400):
        claims = corrected([claim("toy", str(k), rng.normal(size=10)) for k in range(40)])
        wrong += any((each.jointly if correct else each.holds) is not None for each in claims)
    assert wrong / 400 <= 0.083 if correct else wrong / 400 > 0.8


def test_what_does_not_hold_is_named_with_its_difference_and_why():
    """In order of origin, the paper's first; nothing that holds or is a tie is among it (control)."""
    worse, better, even = [-0.2, -0.3, -0.25, -0.22], [0.2, 0.3, 0.25, 0.22], [0.2, -0.3, 0.25, -0.22]
    claims = [
        claim("toy", "a beats b", worse, origin="own", because="b knows the horizon"),
        claim("toy", "a beats c", worse, because="c knows the horizon"),
        claim("toy", "a beats d", better, because="d knows the horizon"),
        claim("toy", "a beats e", even, because="e knows the horizon"),
    ]
    assert [each.because for each in claims] == ["b knows the horizon", "c knows the horizon", "", ""]
    paper, own = failures(corrected(claims))
    assert paper.startswith("does not hold: a beats c (the paper's), because the difference is -0.2425 (95%: -0.31")
    assert paper.endswith("): c knows the horizon.") and own.startswith("does not hold: a beats b (our own)")
    assert failures(claims[2:]) == []


def test_a_tie_of_the_correction_is_a_tie_too():
    """Its explanation says what would decide it, as that of any other tie does; that of a claim that holds does not (control)."""
    answers = {"explanation": "Few logs.", "decided_by": "More visits decide it."}
    p = {True: 0.03, None: 0.5}
    weighed = [Claim("toy", f"{holds}", holds, 0.2, 0.1, 0.3, p=p[holds], **answers) for holds in (True, None)]
    alone, together = corrected(weighed[:1]), corrected(weighed)
    assert [is_tie(each) for each in (*alone, *together)] == [False, True, True]
    assert explained(alone[0]) == "Few logs." and explained(together[0]) == "Few logs. More visits decide it."
    assert decisions(alone) == []
    assert decisions(together) == ["tie: True (after the correction); None. For each: More visits decide it."]
