"""Policies on several data sets of a problem: parts are plain data, and their results joined are those of `compare`."""

import json

import numpy as np
import pytest
from support.race_cases import results_of

import hsb
from hsb.evaluate.simulated.comparison import Comparison
from hsb.experiments.base import Options
from hsb.experiments.synthetic import Race, losses_table, play_part

TREE = {"policy": "HSB", "structure": {"kind": "BinaryTree", "depth": 2}, "horizon": True}


class SmallRace(Race):
    name = "small"
    title = "A small race"

    def settings(self, options):
        policies = {"a tree": {"HSB": TREE}, "others": {"EXP3": {"policy": "Exp3"}, "Uniform": {"policy": "Uniform"}}}
        sizes = {"data_sets": 2, "presentations": 2, "rounds": 60}
        return {"problem": {"name": "stationary"}, "seed": options.seed, "policies": policies} | sizes

    def marks(self, settings):
        return [30]

    def analyse(self, options, results):
        raise NotImplementedError


@pytest.fixture(scope="module")
def results():
    return results_of(SmallRace(), Options(seed=4))


def test_a_part_plays_one_group_on_one_data_set():
    parts = SmallRace().parts(Options(seed=4))
    assert [part.name for part in parts] == [f"small: data set {k}, {group}" for k in (1, 2) for group in ("a tree", "others")]
    assert [part.rounds for part in parts] == [120, 240, 120, 240]
    assert all(json.loads(json.dumps(part.arguments)) == part.arguments for part in parts)
    assert parts[3].arguments["run"] == 1 and parts[3].arguments["marks"] == [30] and parts[3].arguments["seed"] == 4


def test_parts_joined_are_what_compare_plays(results):
    joined = SmallRace().comparison(Options(seed=4), results)
    uniform = {"Uniform": lambda seed: hsb.Uniform(arms=3, seed=seed)}
    direct = hsb.evaluate.compare(uniform, hsb.problems.Stationary(), rounds=60, runs=2, presentations=2, seed=4)
    assert joined.marks[-1] == 60 and 30 in joined.marks and joined.synthetic
    assert joined.policies == ["HSB", "EXP3", "Uniform"]
    assert joined.averages("Uniform") == pytest.approx(direct.averages("Uniform"), rel=1e-12)
    assert joined.best == pytest.approx(hsb.problems.Stationary().best_loss(60))


def test_a_policy_plays_the_same_in_any_group(results):
    part = SmallRace().parts(Options(seed=4))[1]
    alone = play_part(**(part.arguments | {"policies": {"Uniform": {"policy": "Uniform"}}}))
    assert alone["losses"]["Uniform"] == results[part.name]["losses"]["Uniform"]
    other = play_part(**(part.arguments | {"run": 1}))
    assert other["losses"]["Uniform"] != alone["losses"]["Uniform"]  # control: another data set


def test_a_claim_is_a_paired_difference():
    losses = {"good": np.array([[[0.5, 0.1]], [[0.4, 0.2]]]), "bad": np.array([[[0.5, 0.6]], [[0.6, 0.8]]])}
    compared = Comparison(marks=np.array([10, 100]), losses=losses)
    claim = SmallRace().beats(compared, "good", "bad", "good beats bad", origin="own")
    assert claim.difference == pytest.approx((0.5 + 0.6) / 2) and (claim.experiment, claim.origin) == ("small", "own")
    assert claim.numbers["good"]["mean"] == pytest.approx(0.15)
    later = SmallRace().beats(compared, "good", "bad", "later", since=10)
    by_hand = [((0.6 - 0.1) * 100 - 0.0 * 10) / 90, ((0.8 - 0.2) * 100 - (0.6 - 0.4) * 10) / 90]
    assert later.difference == pytest.approx(np.mean(by_hand))


def test_a_table_has_the_distance_to_the_best_policy():
    losses = {"good": np.full((2, 1, 1), 0.3), "bad": np.full((2, 1, 1), 0.5)}
    table = losses_table(Comparison(marks=np.array([10]), losses=losses, best=0.25), "Losses")
    assert [row[0] for row in table.rows] == ["good", "bad", "best policy that knows the model"]
    assert [row[3] for row in table.rows] == ["0.0500", "0.2500", "0"] and len(table.head) == 4
    table = losses_table(Comparison(marks=np.array([10]), losses=losses), "Losses")
    assert [row[3] for row in table.rows] == ["", ""]
