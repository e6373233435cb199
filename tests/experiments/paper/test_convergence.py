"""Section VI-A's two sentences on convergence: on curves of known shape every verdict is what the curve says, and on a run of its own."""

import numpy as np
import pytest
from support.race_cases import results_of

from hsb.evaluate.simulated.comparison import Comparison
from hsb.experiments.base import Options
from hsb.experiments.paper.convergence import Distances, claims, readings, s_exp3, windows
from hsb.experiments.paper.rates import best_of_depth
from hsb.experiments.paper.stationary import DEPTHS, StationaryExperiment

ROUNDS = 100
SINGLE, FOUR = best_of_depth(0), best_of_depth(2)


def curves(**losses):
    """A comparison of four data sets. Of each policy what it loses a round in the first tenth, in the middle, in the last tenth."""
    rng = np.random.default_rng(0)
    weights = np.array([0.1, 0.8, 0.1])
    values = {}
    for name, by_part in losses.items():
        parts = np.array(by_part) + 1e-4 * rng.normal(size=(4, 3))
        so_far = np.cumsum(parts * weights, axis=1) / np.cumsum(weights)
        values[{"exp3": "EXP3", "s": s_exp3(2)}[name]] = so_far[:, None, :]
    return Comparison(marks=np.array([*windows(ROUNDS), ROUNDS]), losses=values)


def verdicts(exp3, s):
    compared = curves(exp3=exp3, s=s)
    return [claim.holds for claim in (*claims(compared, (2,)), *readings(compared, (2,)))]


AS_SAID = {"exp3": [SINGLE + 0.01, SINGLE, SINGLE], "s": [FOUR + 0.2, FOUR + 0.1, FOUR + 0.05]}


def test_curves_as_the_paper_says():
    """EXP3 faster, EXP3 suboptimal, S-EXP3 nearer in the end, and it needs more than ten times the data."""
    assert verdicts(**AS_SAID) == [True, True, True, True]
    compared = curves(**AS_SAID)
    fast, suboptimal, converges, tenfold = (*claims(compared, (2,)), *readings(compared, (2,)))
    assert (fast.difference, converges.difference) == pytest.approx((0.19, 0.15), abs=1e-3)
    assert (suboptimal.difference, tenfold.difference) == pytest.approx((SINGLE - FOUR, 0.04), abs=1e-3)
    assert [claim.origin for claim in (fast, suboptimal, converges, tenfold)] == ["paper", "paper", "paper", "reading"]


@pytest.mark.parametrize(
    ("which", "curve", "expected"),
    [
        ("exp3", [SINGLE + 0.3, SINGLE, SINGLE], [False, True, True, False]),  # slow
        (
            "exp3",
            [FOUR + 0.01, FOUR - 0.01, FOUR - 0.01],
            [True, False, True, True],
        ),  # ends below the best mapping of four cells
        ("s", [FOUR + 0.1, FOUR + 0.1, FOUR + 0.15], [True, True, False, True]),  # goes away from its mapping
        ("s", [FOUR + 0.2, FOUR, FOUR], [True, True, True, False]),  # slower than EXP3, but ten times the rounds are enough
        ("s", [FOUR + 0.001, FOUR, FOUR - 0.01], [False, True, True, False]),  # at once
    ],
)
def test_other_curves_fail_just_the_claims_that_they_contradict(which, curve, expected):
    """Negative controls, one for each claim."""
    assert verdicts(**(AS_SAID | {which: curve})) == expected


def test_a_claim_that_chance_decides_is_a_tie():
    same = [SINGLE + 0.1, SINGLE, SINGLE]
    assert verdicts(exp3=same, s=[FOUR + 0.1, FOUR, FOUR + 0.1])[0] is None


def test_distances_are_over_the_first_and_the_last_tenth():
    distances = Distances(curves(**AS_SAID))
    assert distances.first("EXP3", 0) == pytest.approx(0.01, abs=1e-3) and distances.last("EXP3", 0) == pytest.approx(
        0.0, abs=1e-3
    )
    assert distances.last(s_exp3(2), 2) == pytest.approx(0.05, abs=1e-3)


def test_the_experiment_says_both_sentences():
    """A quick run: EXP3 ends above the optimum, each S-EXP3 gets nearer to it, and the readings are counted apart from the paper's."""
    experiment = StationaryExperiment()
    analysis = experiment.analyse(Options(quick=True), results_of(experiment))
    answers = {claim.claim: claim for claim in analysis.claims if "converges" in claim.claim or "ten times" in claim.claim}
    assert len(answers) == 1 + 3 * len(DEPTHS)
    assert [claim.origin for claim in answers.values()] == ["paper"] * 7 + ["reading"] * 3
    held = [claim for claim in answers.values() if "suboptimal" in claim.claim or "its best mapping: over" in claim.claim]
    assert len(held) == 4 and all(claim.holds for claim in held)
    assert any("'highly superior' and gives no number" in note for note in analysis.notes)
