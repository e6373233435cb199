"""`--propensity` without a column, and `hsb replay` on a log that cannot be replayed."""

import csv

import numpy as np
import pytest
from support.cli_log_cases import run, run_json
from support.propensity_cases import NAMED, softmax_log

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
        result = run_json(capsys, "evaluate", shop, *OPTIONS, "--propensity", word, "--policy", policy)
        right = hsb.evaluate.off_policy(player, hsb.logs.open(shop, propensity=given, **NAMED), context=encoder)
        assert result["value"] == right.value and result["warnings"] == list(right.warnings)
        assert ("logger" in result) == (word == "estimate")
    out, _ = run(capsys, "evaluate", shop, *OPTIONS, "--propensity", "estimate", "--policy", policy)
    assert "propensities estimated on 3,000 rows, 3 arms: log-likelihood" in out and "predicted" in out
    assert "Warning: The propensities are estimates" in out and "includes the doubly robust one" in out
    out, _ = run(capsys, "train", shop, *OPTIONS, "--propensity", "estimate", "--out", policy, *FRESH)
    assert "log-likelihood" in out
    result = run_json(capsys, "convert", shop, tmp_path / "shop.parquet", *OPTIONS, "--propensity", "estimate")
    assert result["logger"]["rows"] == 3000


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
    assert "Warning: " in out and "events were skipped" in out and "1e-06" in out and "hsb evaluate" in out
    result = run_json(capsys, "replay", shop, *OPTIONS, "--propensity", "rare", *FRESH)
    assert result["matched"] == 0 and result["average_reward"] is None and len(result["warnings"]) == 1
    out, _ = run(capsys, "replay", shop, *OPTIONS, "--propensity", "uniform", *FRESH)
    assert "Warning" not in out and "average reward 0." in out
