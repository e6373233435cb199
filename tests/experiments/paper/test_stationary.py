"""Section VI-A at a reduced size: the claims, and that a broken policy fails them."""

import pytest
from support.race_cases import broken, drawn, results_of

import hsb
from hsb.experiments.base import Options
from hsb.experiments.paper.rates import USED, rates
from hsb.experiments.paper.stationary import DEPTHS, StationaryExperiment, default_name

QUICK = Options(quick=True)


@pytest.fixture(scope="module")
def results():
    return results_of(StationaryExperiment())


@pytest.fixture(scope="module")
def analysis(results):
    return StationaryExperiment().analyse(QUICK, results)


def test_full_size_is_the_paper_s():
    settings = StationaryExperiment().settings(Options(seed=3))
    assert (settings["data_sets"], settings["presentations"], settings["rounds"], settings["seed"]) == (10, 10, 100_000, 3)
    parts = StationaryExperiment().parts(Options(seed=3))
    assert len(parts) == 30 and len({part.name for part in parts}) == 30
    assert sum(part.rounds for part in parts) == 10 * 10 * 100_000 * (8 + 12)


def test_hsb_beats_its_rivals(analysis):
    beats = [claim for claim in analysis.claims if "beats" in claim.claim]
    assert len(beats) == 2 * len(DEPTHS) + 1
    assert all(claim.holds for claim in beats if "depth 2" not in claim.claim)
    assert [claim.origin for claim in beats].count("own") == 1


def test_depth_hurts_s_exp3(analysis):
    assert [claim.holds for claim in analysis.claims if "Too much depth" in claim.claim] == [True, True]


def test_every_claim_has_its_numbers(analysis):
    for claim in analysis.claims:
        assert claim.low <= claim.difference <= claim.high
        assert claim.holds == (True if claim.low > 0 else False if claim.high < 0 else None)
        means = [number["mean"] if isinstance(number, dict) else number for number in claim.numbers.values()]
        assert abs(means[1] - means[0]) == pytest.approx(abs(claim.difference), abs=1e-12)
    assert any(claim.explanation for claim in analysis.claims)


def test_a_policy_that_is_told_the_contrary_fails(monkeypatch):
    experiment = broken(StationaryExperiment(), monkeypatch)
    analysis = experiment.analyse(QUICK, results_of(experiment))
    assert all(
        claim.holds is False for claim in analysis.claims if "beats S-EXP3" in claim.claim or "beats EXP3" in claim.claim
    )


def test_results_follow_from_the_seed(results):
    again = results_of(StationaryExperiment())
    assert again == results
    assert results_of(StationaryExperiment(), Options(seed=1, quick=True)) != results


def test_results_are_small(results):
    for result in results.values():
        assert len(result["marks"]) <= 300
        assert all(len(curve) == len(result["marks"]) for curve in result["losses"].values())


def test_the_figure(analysis):
    figure, rates = analysis.figures
    ax = drawn(figure)
    assert figure.name == "figure-5-stationary" and "Figure 5" in figure.caption
    assert len(ax.get_legend().get_texts()) == 9  # the other rates have a figure of their own
    assert rates.synthetic and "does not give HSB-BT's rate" in rates.caption
    assert figure.synthetic and "synthetic" in ax.get_title()
    assert default_name(DEPTHS) in [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_tables(analysis):
    losses, depths, rates = analysis.tables
    assert len(rates.rows) == 8 and "synthetic" in rates.title
    assert len(losses.rows) == 9 and all(len(row) == len(losses.head) for row in losses.rows)
    assert len(depths.rows) == 3 and "synthetic" in losses.title


def test_depth_is_weighed_at_every_rate(analysis):
    """The paper gives none: each of the others is a reading of its own, and counts as one."""
    outcomes = [claim for claim in analysis.claims if claim.origin == "reading" and "rate: " in claim.claim]
    assert [claim.claim.split("rate: ")[1] for claim in outcomes] == [way for way in rates(10_000) if way != USED]
    assert any("not how HSB-BT's is set" in note for note in analysis.notes)


def test_depths_runs_and_rounds_of_one_s_own():
    options = Options(quick=True, depths=(3, 4, 7), runs=3, rounds=2000)
    experiment = StationaryExperiment()
    parts = experiment.parts(options)
    assert len(parts) == 3 * 2 and {part.arguments["rounds"] for part in parts} == {
        2000
    }  # no other rates: they are of depths 5 and 10
    analysis = experiment.analyse(options, results_of(experiment, options))
    claims = " ".join(claim.claim for claim in analysis.claims)
    assert "Depth 4 improves on depth 3" in claims and "Depth 7 improves on depth 4" in claims and "depth 10" not in claims
    assert [text.get_text() for text in drawn(analysis.figures[0]).get_legend().get_texts()].count("HSB-BT, depth 7") == 1


def test_one_depth_alone_has_nothing_to_be_compared_with():
    options = Options(quick=True, depths=(7,), runs=2, rounds=500)
    experiment = StationaryExperiment()
    analysis = experiment.analyse(options, results_of(experiment, options))
    assert not [claim for claim in analysis.claims if "improves on depth" in claim.claim or "Too much depth" in claim.claim]
    assert len([claim for claim in analysis.claims if "beats" in claim.claim]) == 3


@pytest.mark.parametrize(
    ("name", "options", "error"),
    [
        ("landsat", Options(depths=(5,)), "The experiment landsat does not accept --depth. It accepts --runs."),
        ("today", Options(rounds=5000), "The experiment today does not accept --rounds. It accepts --visits, --runs, --depth."),
        ("illustrations", Options(runs=5), "It accepts no sizes."),
        ("stationary", Options(runs=1), "--runs must be at least 2; given 1."),
        ("nonstationary", Options(rounds=50), "--rounds must be at least 100; given 50."),
    ],
)
def test_sizes_that_an_experiment_does_not_have_are_refused(name, options, error):
    [experiment] = hsb.experiments.load_experiments(name)
    with pytest.raises(hsb.InputError) as refused:
        experiment.parts(options)
    assert error in str(refused.value)


@pytest.mark.parametrize("runs", [2, 6, 7])
def test_repetitions_of_landsat_are_shared_among_its_blocks(runs):
    [landsat] = hsb.experiments.load_experiments("landsat")
    parts = landsat.parts(Options(quick=True, runs=runs))
    first = [part for part in parts if part.name.startswith("standardised online")]
    assert sum(len(part.arguments["seeds"]) for part in first) == runs
