"""Section VI-A at a reduced size: the claims, and that a broken policy fails them."""

import numpy as np
import pytest
from race_cases import broken, drawn, results_of

from hsb.experiments.base import Options
from hsb.experiments.paper.stationary import DEFAULT, DEPTHS, Stationary, best_of_depth

QUICK = Options(quick=True)


@pytest.fixture(scope="module")
def results():
    return results_of(Stationary())


@pytest.fixture(scope="module")
def analysis(results):
    return Stationary().analyse(QUICK, results)


def test_full_size_is_the_paper_s():
    settings = Stationary().settings(Options(seed=3))
    assert (settings["data_sets"], settings["presentations"], settings["rounds"], settings["seed"]) == (10, 10, 100_000, 3)
    parts = Stationary().parts(Options(seed=3))
    assert len(parts) == 20 and len({part.name for part in parts}) == 20
    assert sum(part.rounds for part in parts) == 10 * 10 * 100_000 * 8


def test_hsb_beats_its_rivals(analysis):
    beats = [claim for claim in analysis.claims if "beats" in claim.claim]
    assert len(beats) == 2 * len(DEPTHS) + 1
    assert all(claim.holds for claim in beats if "depth 2" not in claim.claim)
    assert [claim.source for claim in beats].count("hsb") == 1


def test_depth_hurts_s_exp3(analysis):
    assert [claim.holds for claim in analysis.claims if "Too much depth" in claim.claim] == [True, True]


def test_every_claim_has_its_numbers(analysis):
    for claim in analysis.claims:
        assert claim.low <= claim.difference <= claim.high
        assert claim.holds == (True if claim.low > 0 else False if claim.high < 0 else None)
        means = [number["mean"] for number in claim.numbers.values() if isinstance(number, dict)]
        assert abs(means[1] - means[0]) == pytest.approx(abs(claim.difference - claim.numbers.get("noise", 0.0)), abs=1e-12)
    assert any(claim.explanation for claim in analysis.claims)


def test_a_policy_that_is_told_the_contrary_fails(monkeypatch):
    experiment = broken(Stationary(), monkeypatch)
    analysis = experiment.analyse(QUICK, results_of(experiment))
    assert all(
        claim.holds is False for claim in analysis.claims if "beats S-EXP3" in claim.claim or "beats EXP3" in claim.claim
    )


def test_results_follow_from_the_seed(results):
    again = results_of(Stationary())
    assert again == results
    assert results_of(Stationary(), Options(seed=1, quick=True)) != results


def test_results_are_small(results):
    for result in results.values():
        assert len(result["marks"]) <= 300
        assert all(len(curve) == len(result["marks"]) for curve in result["losses"].values())


def test_the_figure(analysis):
    [figure] = analysis.figures
    ax = drawn(figure)
    assert figure.synthetic and "synthetic" in ax.get_title()
    assert DEFAULT in [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_tables(analysis):
    losses, depths = analysis.tables
    assert len(losses.rows) == 9 and all(len(row) == len(losses.head) for row in losses.rows)
    assert len(depths.rows) == 3 and "synthetic" in losses.title


def test_cells_cost_what_a_sum_over_them_says():
    """Depth 1: two halves, the expected losses of each arm integrated by hand."""
    left = np.array([0.5 + 1 / np.pi, 2 / np.pi, 0.25])
    right = np.array([0.5 - 1 / np.pi, 2 / np.pi, 0.75])
    assert best_of_depth(1) == pytest.approx((left.min() + right.min()) / 2, abs=1e-7)
