"""Claims about LandSat: ties, and the repetitions that would decide them."""

import math

import numpy as np

from hsb.evaluate.intervals import paired_interval
from hsb.experiments.base import Options
from hsb.experiments.paper.landsat import APS, EPOCHS, LandSat, claims, paper
from hsb.experiments.paper.landsat_claims import repetitions_needed

QUICK = Options(seed=0, quick=True)


def test_a_tie_is_a_tie():
    rng = np.random.default_rng(0)
    names = LandSat().settings(QUICK)["policies"]
    same = {name: 0.3 + 0.01 * rng.normal(size=(12, EPOCHS)) for name in names}
    assert sum(claim.holds is None for claim in claims(same)) >= len(claims(same)) - 2


def test_a_tie_says_how_many_repetitions_its_sign_would_take():
    """As many are enough, drawn anew, in about half of all cases, and a tenth of them in few (control)."""
    assert repetitions_needed([0.0, 0.0]) is None and repetitions_needed([0.1]) is None
    rng = np.random.default_rng(0)
    differences = rng.normal(0.01, 0.1, 80)
    differences += 0.01 - differences.mean()
    needed = repetitions_needed(differences)
    assert needed == math.ceil((1.96 * differences.std(ddof=1) / 0.01) ** 2) > 200
    shown = {
        n: np.mean([paired_interval(rng.normal(0.01, 0.1, n)).low > 0 for _ in range(400)]) for n in (needed, needed // 10)
    }
    assert 0.3 < shown[needed] < 0.7 and shown[needed // 10] < 0.2

    errors = {name: np.tile(differences[:, None], (1, EPOCHS)) for name in LandSat().settings(QUICK)["policies"]}
    errors[APS] = 0.0 * errors[APS]
    ties = [claim for claim in paper(errors) if "in epoch" in claim.claim and claim.holds is None]
    assert ties and all(f"about {needed / 80:.1f} times the 80 repetitions" in claim.decided_by for claim in ties)
