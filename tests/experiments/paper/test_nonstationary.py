"""Section VI-B at a reduced size: the claims before and after the change, and that a broken policy fails them."""

import pytest
from support.race_cases import broken, drawn, results_of

from hsb.experiments.base import Options
from hsb.experiments.paper.nonstationary import NonstationaryExperiment, drift_name
from hsb.experiments.paper.stationary import DEPTHS, default_name

QUICK = Options(quick=True)


@pytest.fixture(scope="module")
def analysis():
    return NonstationaryExperiment().analyse(QUICK, results_of(NonstationaryExperiment()))


def test_full_size_is_the_paper_s():
    experiment = NonstationaryExperiment()
    settings = experiment.settings(Options())
    assert (settings["data_sets"], settings["presentations"], settings["rounds"]) == (10, 10, 100_000)
    assert settings["problem"] == {"name": "sudden-change", "at": 0.25} and experiment.marks(settings) == [25_000]
    assert len(experiment.parts(Options())) == 20


def test_claims_before_and_after(analysis):
    before = [claim for claim in analysis.claims if claim.claim.startswith("Before")]
    after = [claim for claim in analysis.claims if "after the change" in claim.claim and claim.origin == "paper"]
    assert len(before) == len(after) == 6
    assert sum(claim.holds is True for claim in before) >= 4  # ten thousand rounds: at depth 2 it may be a tie
    ours = [claim for claim in analysis.claims if claim.origin == "own"]
    assert len(ours) == 4 and all(claim.holds for claim in ours if "default" in claim.claim)


def test_before_and_after_are_weighed_apart(analysis):
    """Over all rounds is a quarter before and three quarters after."""
    before, after, whole = ({row[0]: float(row[1]) for row in table.rows} for table in analysis.tables)
    for name in whole:
        assert whole[name] == pytest.approx(before[name] / 4 + after[name] * 3 / 4, abs=2e-4)  # they are rounded
    assert before["HSB-BT, depth 10"] < after["HSB-BT, depth 10"]


def test_a_policy_that_is_told_the_contrary_fails(monkeypatch):
    experiment = broken(NonstationaryExperiment(), monkeypatch)
    analysis = experiment.analyse(QUICK, results_of(experiment))
    assert all(claim.holds is False for claim in analysis.claims if claim.claim.startswith("Before"))


def test_the_figure(analysis):
    [figure] = analysis.figures
    assert figure.name == "figure-6-nonstationary" and "Figure 6" in figure.caption
    ax = drawn(figure)
    assert figure.synthetic and "synthetic" in ax.get_title()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert default_name(DEPTHS) in labels and drift_name(DEPTHS) in labels
