"""Bad logs: what is damaged is refused or reported, never read as something else."""

import json

import numpy as np
import pytest
from support.attack import log_storms

import hsb
import hsb.logs

TABLE = {"context": ["x"], "arm": "shown", "propensity": "p", "reward": "r"}


def test_mutated_lines(tmp_path):
    assert log_storms.line_storm(0, 4000, tmp_path)["lines"] >= 4000


def test_damaged_and_forged_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    assert log_storms.parquet_storm(0, 150, tmp_path).total() == 150
    forged = log_storms.parquet_forgeries(0, 200, tmp_path)
    assert forged.total() == 200 and forged["FileError"] > 100


@pytest.mark.parametrize("made", [[-1, -2], [0, 2**61 - 1], ["1", 1], [0.5, "0.5"], ["\ud800", "\ud801"], [1, True]])
def test_events_are_told_apart_by_their_own_ids(made):
    n = len(made)
    table = {"x": [0.1] * n, "shown": ["a"] * n, "p": [0.5] * n, "r": [1] * n, "id": made}
    log = hsb.logs.open(table, id="id", **TABLE)
    assert log.count() == n and not log.problems
    twice = {name: [*column, column[0]] for name, column in table.items()}
    log = hsb.logs.open(twice, id="id", **TABLE)
    assert log.count() == n and log.problems.reasons == {"the event id is a duplicate": 1}


def test_ids_that_are_no_ids_are_problems():
    table = {"x": [0.1] * 3, "shown": ["a"] * 3, "p": [0.5] * 3, "r": [1] * 3, "id": [(1, [2]), None, np.arange(2)]}
    log = hsb.logs.open(table, id="id", **TABLE)
    assert log.count() == 0 and log.problems.reasons == {"the event id is missing": 3}


def test_dsjson_without_ids_is_read(tmp_path):
    event = {"_label_cost": 0.5, "_label_probability": 0.5, "_labelIndex": 0, "c": {"x": 1, "_multi": [{"a": 1}, {"a": 2}]}}
    lines = [event, event, event | {"EventId": "e"}, event | {"EventId": "e"}]
    (tmp_path / "log.dsjson").write_text("\n".join(map(json.dumps, lines)))
    log = hsb.logs.open(tmp_path / "log.dsjson")
    assert log.count() == 3 and log.problems.reasons == {"the event id is a duplicate": 1}


def test_vw_keeps_columns(tmp_path):
    """Their order and number, whatever is 0 in which row."""
    rng = np.random.default_rng(0)
    contexts = (rng.random((50, 12)) < 0.2) * 1.0
    contexts[:3] = 0.0
    contexts[:, 7] = 0.0
    path = tmp_path / "log.vw"
    for points in (contexts, np.zeros((4, 5))):
        n = len(points)
        batch = hsb.logs.Batch.of(contexts=points, arm=[0] * n, reward=[0] * n, propensity=[0.5] * n, arms=["a", "b"])
        hsb.logs.write(path, [batch], "vw")
        [result] = hsb.logs.open(path)
        assert np.array_equal(result.contexts, points)
    wide = hsb.logs.Batch.of(contexts=np.ones((2, 6)), arm=[0] * 2, reward=[0] * 2, propensity=[0.5] * 2, arms=["a", "b"])
    with pytest.raises(hsb.InputError, match="same features"):
        hsb.logs.write(path, [batch, wide], "vw")


def test_a_stray_quote_costs_its_own_line(tmp_path):
    rows = [f"0.{i},a{i % 2},0.5,1\n" for i in range(1, 10)] * 300
    rows[5] = '0.5,"a1,0.5,1\n'
    rows[900] = '0.5,a1","0.5,1\n'
    rows[1500] = '0.5,"a\n1",0.5,1\n'  # a good row over two lines
    (tmp_path / "log.csv").write_text("x,shown,p,r\n" + "".join(rows))
    log = hsb.logs.open(tmp_path / "log.csv", **TABLE)
    assert log.count() == 2698 and log.problems.count == 2
    assert [problem.line for problem in log.problems.first] == [7, 902]
    assert "a\n1" in log.arms


def test_a_bom_is_no_part_of_the_first_line(tmp_path):
    line = "1317513291 id-4 0 |user 1 9 |id-4 |id-7\n"
    (tmp_path / "log").write_bytes(b"\xef\xbb\xbf" + line.encode() * 2)
    log = hsb.logs.open(tmp_path / "log")
    assert log.count() == 2 and not log.problems
    (tmp_path / "log").write_bytes(b"\xef\xbb")
    assert hsb.logs.open(tmp_path / "log", "yahoo-r6b").count() == 0
