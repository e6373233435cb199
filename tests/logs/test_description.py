"""`log.describe()`: counted again by hand."""

import hsb.logs


def test_what_is_in_a_log():
    rows = 40
    table = {
        "age": [None if t % 4 == 0 else t for t in range(rows)],
        "country": ["FR" if t % 2 else None for t in range(rows)],
        "none": [None] * rows,
        "shown": ["abc"[t % 3] for t in range(rows)],
        "p": [0.0 if t == 5 else 0.1 + 0.01 * t for t in range(rows)],
        "click": [t % 5 == 0 for t in range(rows)],
    }
    log = hsb.logs.open(table, arm="shown", propensity="p", reward="click", rows=7)
    result = log.describe()
    used = [t for t in range(rows) if t != 5]
    assert (result.rows, result.skipped) == (39, 1)
    assert result.average_reward == sum(t % 5 == 0 for t in used) / 39
    for each in result.arms:
        own = [t for t in used if table["shown"][t] == each["arm"]]
        assert each["rows"] == len(own) and abs(each["average_reward"] - sum(t % 5 == 0 for t in own) / len(own)) < 1e-12
        assert each["propensity"] == min(table["p"][t] for t in own)
    columns = {each["name"]: (each["kind"], each["missing"]) for each in result.columns}
    assert columns == {
        "age": ("number", 10 / 39),
        "country": ("category", 20 / 39 - 1 / 39 * (5 % 2 == 0)),
        "none": (None, 1.0),
    }
    assert "none: only missing values, missing in 100.0% of rows" in str(result) and result.to_dict()["rows"] == 39


def test_of_a_log_without_names_there_are_no_columns():
    log = hsb.logs.SyntheticToday(500, seed=0)
    assert log.describe().rows == 500 and log.describe().columns == ()
