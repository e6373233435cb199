"""`--propensity` without a column, and `hsb replay` on a log that cannot be replayed."""

import csv
import json

import numpy as np
import pytest
from support.cli_log_cases import run, run_json
from support.propensity_cases import ARMS, NAMED, softmax_log

import hsb
import hsb.evaluate
import hsb.logs
from hsb import cli
from hsb.cli.policy_files import load

OPTIONS = ("--context", "x,y", "--arm", "shown", "--reward", "click")
FRESH = ("--depth", "3", "--components", "0")


@pytest.fixture
def shop(tmp_path):
    table, _ = softmax_log(3000)
    table["rare"] = np.where(np.arange(3000) == 999, 1e-6, 0.9)
    path = tmp_path / "shop.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(table)
        rows.writerows(zip(*table.values(), strict=True))
    return path


def test_the_words_of_the_option_are_those_of_the_library(shop, tmp_path, capsys):
    policy = tmp_path / "policy.hsb"
    run(capsys, "train", shop, *OPTIONS, "--propensity", "p", "--rows", 1000, "--out", policy, *FRESH)
    player, encoder = load(policy)
    for word, given in [("uniform", "uniform"), ("0.3", 0.3), ("estimate", "estimate"), ("p", "p")]:
        found = run_json(capsys, "evaluate", shop, *OPTIONS, "--propensity", word, "--policy", policy)
        right = hsb.evaluate.off_policy(player, hsb.logs.open(shop, propensity=given, **NAMED), context=encoder)
        assert found["value"] == right.value and found["warnings"] == list(right.warnings)
        assert ("logger" in found) == (word == "estimate")
    out, _ = run(capsys, "evaluate", shop, *OPTIONS, "--propensity", "estimate", "--policy", policy)
    assert "propensities estimated on 3,000 rows, 3 arms: log-likelihood" in out and "predicted" in out
    assert "Warning: The propensities are estimates" in out and "reaches to doubly robust" in out
    out, _ = run(capsys, "train", shop, *OPTIONS, "--propensity", "estimate", "--out", policy, *FRESH)
    assert "log-likelihood" in out
    found = run_json(capsys, "convert", shop, tmp_path / "shop.parquet", *OPTIONS, "--propensity", "estimate")
    assert found["logger"]["rows"] == 3000


def test_without_propensities_it_is_said_what_can_be_done(shop, capsys):
    for more, words in [
        ((), "with which probability"),
        (("--propensity", "q"), "no column 'q'"),
        (("--propensity", "0"), "(0, 1]"),
    ]:
        assert cli.main(["replay", str(shop), *OPTIONS, *more]) == 2
        err = capsys.readouterr().err
        assert words in err and ("'estimate'" in err or "(0, 1]" in err) and "propensity=" not in err


def test_a_replay_that_cannot_be(shop, capsys):
    out, _ = run(capsys, "replay", shop, *OPTIONS, "--propensity", "rare", *FRESH)
    assert "nan" not in out and "no event matched, so there is no average reward; the log 0." in out
    assert "Warning: " in out and "events were passed over" in out and "1e-06" in out and "hsb evaluate" in out
    found = run_json(capsys, "replay", shop, *OPTIONS, "--propensity", "rare", *FRESH)
    assert found["matched"] == 0 and found["average_reward"] is None and len(found["warnings"]) == 1
    out, _ = run(capsys, "replay", shop, *OPTIONS, "--propensity", "uniform", *FRESH)
    assert "Warning" not in out and "average reward 0." in out


def test_decisions_become_a_table_and_a_log():
    policy = hsb.HSB(arms=ARMS, seed=0)
    contexts = [{"age": 30.0, "country": "FR"}, {"age": None, "country": "DE"}, {"country": "FR", "is_new": True}]
    made = [hsb.Decision.from_dict(json.loads(json.dumps(policy.decide(each).to_dict()))) for each in contexts]
    table = hsb.logs.decisions_table(made, [1.0, 0.0, 1.0])
    assert table["age"] == [30.0, None, None] and table["is_new"] == [None, None, True]
    assert table["propensity"] == [each.propensity for each in made] and "available" not in table
    named = {"arm": "arm", "propensity": "propensity", "reward": "reward", "categories": "country"}
    [batch] = hsb.logs.open(table, context="country", arms=ARMS, **named)
    assert batch.labels().tolist() == [each.arm for each in made] and batch.reward.tolist() == [1.0, 0.0, 1.0]
    some = hsb.logs.decisions_table([policy.decide({"country": "FR"}, available=["a", "c"]), *made[:1]], [1.0, 0.0])
    assert some["available"] == [["a", "c"], None]
    rows = hsb.logs.decisions_table([hsb.Decision(context=[0.5, 2], arm="a", propensity=0.5)], [1])
    assert list(rows) == ["x0", "x1", "arm", "propensity", "reward"]
    assert hsb.logs.decisions_table([hsb.Decision(context=0.5, arm="a", propensity=0.5)], [1])["x"] == [0.5]
    for wrong, words in [
        (lambda: hsb.logs.decisions_table(made, [1.0]), "a reward for each"),
        (lambda: hsb.logs.decisions_table([3], [1.0]), "decisions"),
        (lambda: hsb.logs.decisions_table(made, ["x", 0, 0]), "numbers"),
        (lambda: hsb.logs.decisions_table(made, [1, 0, 0], arm="country"), "A feature is called 'country'"),
        (lambda: hsb.logs.decisions_table(made, [1, 0, 0], arm="reward"), "different names"),
        (lambda: hsb.logs.from_decisions(made, [1, 0, 0], arms=ARMS), "decisions_table"),
    ]:
        with pytest.raises(hsb.InputError, match=words):
            wrong()
