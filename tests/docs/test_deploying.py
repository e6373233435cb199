"""docs/deploying.md: its snippets run in their order, its commands do, and what they say is so."""

import os
import shlex
from pathlib import Path

import numpy as np
import pytest
from support import pages

import hsb
import hsb.evaluate
import hsb.logs
from hsb import cli

pytestmark = pytest.mark.long

PAGE = (pages.DOCS / "deploying.md").read_text()
OBD = Path(os.environ.get("HSB_OBD", Path(__file__).parents[3] / "shared" / "data" / "obd"))
SHOP, BANDIT = PAGE.split("## On the Open Bandit files")


def run(text: str, names: dict[str, object]) -> None:
    pages.run(text, "deploying.md", names, all_of_them=True)


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return {}


def test_from_a_table_to_a_decision_and_back(shop, tmp_path, capsys):
    run(SHOP, shop)
    printed = capsys.readouterr().out
    assert "6000 visitors learned" in printed and "True False" in printed and "the log itself" in printed
    rng = np.random.default_rng(9)
    people = [shop["arriving"](rng) for _ in range(2000)]
    truth = np.array([shop["clicks"](each) for each in people])
    plays = np.array([shop["policy"].probabilities(each) for each in people])
    order = [shop["BANNERS"].index(arm) for arm in shop["policy"].arms]
    value, result = float((plays * truth[:, order]).sum(axis=1).mean()), shop["found"]
    assert result.rows == 6000  # those who did not say what they spend among them
    assert result.interval[0] < value < result.interval[1]
    assert result.warnings == () and not any("estimates" in answer for answer in result.warnings)
    assert value > truth.mean() + 0.05  # better than uniform play, which the log says too
    uniform = shop["compared"]["uniform"]
    assert abs(uniform.value - truth.mean()) < 0.04 and uniform.difference.value < 0.0
    assert abs(np.mean(shop["rewards"]) - value) < 0.03
    assert abs(shop["estimated"].value - result.value) < 0.02
    assert "estimates" in shop["estimated"].warnings[0] and "log-likelihood" in printed
    assert hsb.load(tmp_path / "policy.hsb").digest() == shop["learner"].digest()
    assert shop["learner"].rounds == 6000 + 1 + 3000
    monday = hsb.logs.open(tmp_path / "monday.csv", **shop["COLUMNS"]).by_name()
    assert monday.count() == 3000 and next(iter(monday)).propensity.min() >= 0.1 / 3


@pytest.mark.skipif(not OBD.is_dir(), reason=f"The Open Bandit Dataset is not at {OBD}; HSB_OBD says where.")
def test_on_the_open_bandit_files(shop, tmp_path, capsys):
    (tmp_path / "obd").symlink_to(OBD)
    run("```python\nimport json\nimport hsb\nimport hsb.evaluate\nimport hsb.logs\n```\n" + BANDIT, shop)
    printed = capsys.readouterr().out
    assert "doubly robust" in printed and printed.endswith("True\n")
    assert shop["items"].rounds == 10_001
    assert cli.main(["replay", str(tmp_path / "obd" / "bts" / "all")]) == 0
    answer = capsys.readouterr().out
    assert "nan" not in answer and "hsb evaluate" in answer


def test_the_commands_of_the_page(shop, capsys):
    run(SHOP.split("## By the command")[0], shop)
    [commands] = pages.blocks(SHOP, "sh")
    for line in filter(None, commands.splitlines()):
        assert cli.main(shlex.split(line)[1:]) == 0, line
    printed = capsys.readouterr().out
    assert "doubly robust" in printed and "spend" in printed
