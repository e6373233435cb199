"""The result of a command about a log: one JSON object, or lines with what was skipped."""

import json
from pathlib import Path

import pytest

import hsb.logs
from hsb.cli.log_results import print_result
from hsb.logs.propensity_model.fit import Bin, LoggerFit

FIT = LoggerFit(1000, 2, -0.5, -0.6, -0.69, (Bin(0.3, 0.31, 1000),), 0.01, 0.05, 0.1, 0, 0.0)


@pytest.fixture
def log():
    table = {"x": [0.1, None, 0.3], "shown": ["a", "b", "a"], "click": [1, 0, 1]}
    opened = hsb.logs.open(table, context="x", arm="shown", propensity="uniform", reward="click")
    opened.count()
    return opened


def test_lines_and_what_was_skipped(log, capsys):
    print_result(False, {"rows": 2}, "2 rows", "an average", log=log)
    out, err = capsys.readouterr()
    assert out == "2 rows\nan average\n"
    assert err == "1 line skipped\ntable, line 2: feature 'x' is missing or not a finite number\n"


def test_json_is_one_object_alone(log, capsys):
    print_result(True, {"rows": 2, "path": Path("log.csv")}, "2 rows", log=log)
    out, err = capsys.readouterr()
    assert json.loads(out) == {"rows": 2, "path": "log.csv"} and out.count("\n") == 1 and err == ""


def test_nothing_is_printed_of_a_log_without_problems(capsys):
    print_result(False, {}, "done")
    assert capsys.readouterr() == ("done\n", "")


def test_the_fit_of_estimated_propensities_is_printed(capsys):
    print_result(False, {"rows": 2}, "2 rows", logger=FIT)
    assert capsys.readouterr().out == f"2 rows\n{FIT}\n"
    values = {"rows": 2}
    print_result(True, values, "2 rows", logger=FIT)
    printed = json.loads(capsys.readouterr().out)
    assert printed == {"rows": 2, "logger": FIT.to_dict()} and values == {"rows": 2}


def test_the_log_decides_whose_fit_it_is(log, capsys):
    print_result(True, {"rows": 2}, log=log, logger=FIT)
    assert json.loads(capsys.readouterr().out) == {"rows": 2}  # its propensities were not estimated
