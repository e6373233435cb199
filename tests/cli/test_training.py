"""The report of a training: what was read and how often it was missing, agreement with the log, and the first rules."""

import json

import numpy as np
import pytest
from support.shop_logs import ARMS, CONTEXT, PARTS, shop

import hsb
import hsb.logs
from hsb.cli.training import COLUMNS, RULES, TrainingCounts, Watched, agreement_with_log, first_rules, report, training_lines

ROWS = 600
TABLE = shop(ROWS)
VALUES = {
    "learned": 1000, "skipped": 2, "arms": 3, "columns": [],
    "arm_columns": [], "average_reward": None, "match": None, "matched_rows": 0, "rules": [],
    "agreement": None, "seconds": 0.0,
}  # fmt: skip


def open_shop(rows=ROWS):
    return hsb.logs.open({name: column[:rows] for name, column in TABLE.items()}, context=CONTEXT, **PARTS)


@pytest.fixture(scope="module")
def taught():
    policy, log = hsb.HSB(arms=ARMS, seed=0), Watched(open_shop())
    learned = hsb.learn_from(policy, log)
    return policy, log, learned


def test_missing_values_are_counted_by_column(taught):
    policy, log, learned = taught
    assert learned == ROWS == log.tally.rows and log.tally.total == sum(TABLE["click"])
    columns = {column["name"]: column for column in log.tally.columns(policy.learner.named_columns)}
    assert {name: column["missing"] for name, column in columns.items()} == {
        name: sum(value is None for value in TABLE[name]) / ROWS for name in CONTEXT
    }
    assert columns["spend"]["kind"] == "number" and columns["country"]["kind"] == "category"
    assert TrainingCounts().columns({"age": None}) == [{"name": "age", "kind": None, "missing": 0.0}]
    assert TrainingCounts().columns(None) == []


def test_only_the_last_reading_counts():
    log = Watched(open_shop(50))
    named = log.by_name()
    for _ in range(3):
        assert named.count() == 50
    assert log.tally is named.tally and log.tally.rows == 50
    assert log.tally.missing["spend"] == sum(value is None for value in TABLE["spend"][:50])


def test_agreement_is_the_share_of_rows_with_the_most_played_arm(taught):
    policy, _, _ = taught
    share, rows = agreement_with_log(policy, open_shop(200), None)
    hits = 0
    for batch in open_shop(200).by_name():
        for i in range(len(batch)):
            probabilities = policy.probabilities(batch.named.context(i))
            hits += policy.arms[int(np.argmax(probabilities))] == batch.arms[batch.arm[i]]
    assert (share, rows) == (hits / 200, 200)


def test_rules_are_those_of_the_policy(taught):
    policy, _, _ = taught
    rules, agreement = first_rules(policy)
    assert 0 < len(rules) <= RULES and all(": play " in rule for rule in rules) and 0.0 < agreement <= 1.0
    assert first_rules(hsb.Uniform(arms=2)) == ([], None)


def test_the_report_is_plain_data(taught):
    policy, log, learned = taught
    values = json.loads(json.dumps(report(policy, None, log, learned, 2.0)))
    assert (values["learned"], values["skipped"], values["arms"], values["kind"]) == (ROWS, 0, 3, "HSB")
    assert values["rows_per_second"] == ROWS / 2.0 and values["average_reward"] == pytest.approx(sum(TABLE["click"]) / ROWS)
    assert values["matched_rows"] == ROWS and len(values["columns"]) == len(CONTEXT)
    assert report(policy, None, log, learned, 0.0)["rows_per_second"] is None


def test_lines_leave_out_what_is_not_known():
    assert training_lines(VALUES) == ["1,000 decisions learned, 2 rows skipped, 3 arms; 0.0 s, 0 rows/s"]
    columns = [{"name": f"c{k}", "kind": None if k else "number", "missing": 0.125 * (k == 0)} for k in range(COLUMNS + 2)]
    lines = training_lines(VALUES | {"columns": columns, "seconds": 2.0})
    assert lines[0].endswith("2.0 s, 500 rows/s")
    assert lines[1:3] == ["  c0: number, missing in 12.5% of rows", "  c1: only missing values"]
    assert lines[-1] == "  ... and 2 more columns" and len(lines) == COLUMNS + 2
    lines = training_lines(VALUES | {"rules": ["x < 1: play 'a'"], "agreement": 0.9, "average_reward": 0.25, "match": 0.5})
    assert lines[1] == "average reward of the log 0.2500" and "shown in 50.0% of the first 0 rows" in lines[2]
    assert lines[3:] == ["first rules (all rules together name the most played arm in 90% of contexts):", "  x < 1: play 'a'"]
