"""A comparison from a file runs, reports, and plays what hsb.evaluate.compare plays."""

import numpy as np
import pytest
from support.comparison_files import FILE, GOOD

import hsb
from hsb.experiments.base import Options
from hsb.experiments.custom import CustomComparison
from hsb.experiments.spec import read
from hsb.experiments.study import conduct


@pytest.mark.parametrize("text", [GOOD, FILE])
def test_a_comparison_runs_and_reports(write, tmp_path, text):
    own = CustomComparison(read(write(text)))
    done = conduct([own], Options(seed=5), tmp_path / "out", jobs=1, title=own.heading)
    (study,) = done.studies
    assert len(study.parts) == own.spec["runs"] * len(own.spec["policies"])
    assert len(study.analysis.claims) == len(own.spec["policies"]) - 1
    page = done.report.read_text()
    assert own.heading in page and ("synthetic" in page) == (text is GOOD)
    if text is GOOD:
        assert study.analysis.claims[0].holds  # ours loses less than uniform play


def test_the_runs_are_those_of_compare(write, tmp_path):
    from hsb.evaluate import compare
    from hsb.problems import Stationary

    own = CustomComparison(read(write(GOOD)))
    done = conduct([own], Options(seed=5), tmp_path / "out", jobs=1)
    tree = hsb.BinaryTree(depth=4)
    compared = compare(
        {"ours": lambda seed: hsb.HSB(tree, arms=3, horizon=400, seed=seed)}, Stationary(), rounds=400, runs=3, seed=5
    )
    own_runs = [done.studies[0].finished[3 * run].result["losses"]["ours"] for run in range(3)]
    assert np.array_equal(compared.losses["ours"][:, 0], own_runs)
