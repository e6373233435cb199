"""Section VI-C at a reduced size: parts are plain data and repeat, the analysis weighs its claims, real files are read."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hsb
import hsb.logs
from hsb.experiments.base import Options
from hsb.experiments.paper import today
from hsb.experiments.verdicts import corrected, decisions, explained, is_tie

SMALL = {"logs": 2, "visits": 6000, "presentations": 2}
DEPTHS = today.Today.SETTINGS["depths"]


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setitem(today.Today.SETTINGS, "quick", SMALL)
    return Options(seed=1, quick=True)


def run(options):
    return {part.name: json.loads(json.dumps(today.play(**part.arguments))) for part in today.Today().parts(options)}


def test_parts_repeat_and_the_analysis_says_synthetic(small):
    results = run(small)
    part = today.Today().parts(small)[1]
    assert json.loads(json.dumps(part.arguments)) == part.arguments
    assert today.play(**part.arguments) == results[part.name]
    assert results["log 1"] != results["log 2"]
    result = today.Today().analyse(small, results)
    assert len(result.claims) == 2 * (len(DEPTHS["HSB-BT"]) + len(DEPTHS["HSB-LG"])) + 1
    assert all(
        "synthetic" in text for text in [*(claim.claim for claim in result.claims), *(table.title for table in result.tables)]
    )
    assert result.figures[0].synthetic and result.figures[0].name == "figure-7-today"
    assert any("SYNTHETIC" in note for note in result.notes)
    assert all(len(row) == len(table.head) for table in result.tables for row in table.rows)
    json.dumps([claim.__dict__ for claim in result.claims])
    assert today.Today().settings(small)["log"] == "synthetic"


def test_a_log_on_disk_gives_the_same(tmp_path, small):
    """A synthetic log that is made as it is read, and the same log written in Yahoo!'s format and read back by its reader."""
    part = today.Today().parts(small._replace(visits=20_000))[0]
    assert part.arguments["visits"] == 20_000
    streamed = today.play(**part.arguments)
    names = ("seed", "number", "visits", "articles")
    path = tmp_path / "ydata-fp-td-clicks-v2_0.20111002"
    hsb.logs.write(path, today.synthetic(*(part.arguments[name] for name in names)), "yahoo-r6b")
    [read, *_] = today.Today().parts(small._replace(data=tmp_path))
    assert today.play(**read.arguments) == streamed
    other = today.play(**(read.arguments | {"seed": 2}))
    assert other["policies"] != streamed["policies"]  # control: other policies, the same log
    assert (other["visits"], other["clicks"]) == (streamed["visits"], streamed["clicks"])


def test_visits_are_for_synthetic_logs(tmp_path, small):
    settings = today.Today().settings(Options(visits=5000))
    assert settings["visits"] == 5000 and settings["logs"] == today.Today.SETTINGS["logs"]
    with pytest.raises(hsb.InputError, match="--data names a real one; given both, 5000 visits"):
        today.Today().settings(small._replace(data=tmp_path, visits=5000))


def test_the_figure_is_drawn(small):
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure = today.Today().analyse(small, run(small)).figures[0].draw(pyplot)
    assert "SYNTHETIC" in figure.axes[0].get_title()
    assert "%" in figure.axes[0].get_ylabel()
    assert len(figure.axes[0].patches) == 2 + sum(map(len, DEPTHS.values()))
    pyplot.close(figure)


def test_real_files_are_read(tmp_path, small):
    hsb.logs.write(tmp_path / "ydata-fp-td-clicks-v2_0.20111002.gz", hsb.logs.SyntheticToday(5000, seed=9))
    with (tmp_path / "ydata-fp-td-clicks-v2_0.20111003").open("w") as file:
        file.write("this is no visit\n")
    options = small._replace(data=tmp_path)
    results = run(options)
    assert results["log 1"]["visits"] == 5000
    assert results["log 1"]["skipped"] == 1
    assert results["log 1"]["policies"] != results["log 2"]["policies"]  # the same log, other policies
    result = today.Today().analyse(options, results)
    assert not result.figures[0].synthetic
    assert not any("synthetic" in claim.claim for claim in result.claims)
    with pytest.raises(hsb.InputError, match="no directory"):
        today.Today().parts(small._replace(data=tmp_path / "nowhere"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(hsb.InputError, match="no log"):
        today.Today().parts(small._replace(data=tmp_path / "empty"))


def made_up(rates):
    """Results of six logs in which each policy has about the given click rate."""
    rng = np.random.default_rng(0)
    names = ["EXP3", *(f"{kind}, depth {depth}" for kind in DEPTHS for depth in DEPTHS[kind]), today.DEFAULT]
    return {
        f"log {k + 1}": {
            "visits": 10_000,
            "skipped": 0,
            "clicks": 400.0,
            "articles": 50,
            "pool": 25.0,
            "clipped": 0,
            "explained": 0.1,
            "policies": {
                name: [[float(rng.binomial(20_000, rates.get(name.split(",")[0], 0.04))), 20_000] for _ in range(2)]
                for name in names
            },
        }
        for k in range(today.Today.SETTINGS["logs"])
    }


def test_a_broken_policy_fails_its_claims():
    """Control: with a better HSB every claim of the paper holds; with a broken one none does; with equal ones all are ties."""

    def weighed(rates):
        claims = today.Today().analyse(Options(), made_up(rates)).claims
        return {(claim.holds, "tie" in claim.explanation) for claim in claims if claim.origin == "paper"}

    assert weighed({"HSB-BT": 0.06, "HSB-LG": 0.06}) == {(True, False)}
    assert weighed({"HSB-BT": 0.02, "HSB-LG": 0.02}) == {(False, False)}
    assert {holds for holds, _ in weighed({})} <= {None, True, False}
    assert (None, True) in weighed({})


def test_ties_say_which_command_decides_them():
    """Also those that only the correction makes; not those of a log as long as the paper's, nor of the real one, which no command lengthens."""
    command = "hsb reproduce today --visits 28041015 decides it"
    results = made_up({})
    claims = corrected(today.Today().analyse(Options(), results).claims)
    paper = [claim for claim in claims if claim.origin == "paper"]
    assert any(is_tie(claim) for claim in paper)
    assert all((command in explained(claim)) is is_tie(claim) for claim in paper)
    assert all(claim.decided_by == "" for claim in claims if claim.origin == "own")
    [line] = decisions(claims)
    assert command in line and all(claim.claim in line for claim in paper if is_tie(claim))
    doubtful = [replace(claim, holds=True, p=0.03) for claim in paper]
    assert all(command in explained(claim) for claim in corrected(doubtful))  # ten at 0.03: Holm leaves none
    for each in results.values():
        each["visits"] = today.PAPER_VISITS
    assert decisions(corrected(today.Today().analyse(Options(), results).claims)) == []


def test_the_page_of_commands_names_the_same_command():
    page = (Path(__file__).parents[3] / "docs" / "commands.md").read_text()
    assert f"hsb reproduce today --visits {today.PAPER_VISITS}" in page
