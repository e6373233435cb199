"""Updates as a log that hsb reads."""

import json

import pytest
from support.serve import request_cases

import hsb.logs
from hsb.serve.core import Create, Decide, Reward
from hsb.serve.exporting import FORMATS, export, named_context
from hsb.serve.local import Local


@pytest.mark.parametrize("format", FORMATS)
def test_every_update_comes_back(tmp_path, format):
    local = Local(tmp_path / "hsb.db")
    local.ask(Create(0, {"name": "home", "arms": ["a", "b"], "policy": {"kind": "Exp3"}, "floor": 0.1}, b"s" * 32))
    arms = []
    for k in range(30):
        arms.append(local.ask(Decide(k, "home", f"d{k}", {"age": 20 + k})).body["arm"])
        local.ask(Reward(k, f"d{k}", float(k % 3 == 0)))
    out = tmp_path / f"log.{format}"
    assert export(local.store, "home", out, format).rows == 30
    local.close()
    log = hsb.logs.open(out, format if format == "dsjson" else None)
    batches = list(log)
    assert sum(len(batch) for batch in batches) == 30 and not len(log.problems)
    assert [batch.arms[arm] for batch in batches for arm in batch.arm] == arms


@pytest.mark.parametrize(("context", "names"), [({"age": 3}, {"age"}), ([1, 2], None), (0.5, None)])
def test_contexts_get_names(context, names):
    result = named_context(context)
    assert isinstance(result, dict) and (names is None or set(result) == names)


def test_arms_that_came_with_requests_keep_their_features(tmp_path):
    """Each line has the arms of its request with their features, and names the arm that was played."""
    local = Local(tmp_path / "hsb.db")
    request_cases.make(local)
    request_cases.fill(local, 30)
    rows = list(local.store.decisions(local.core.policies["home"].id))
    done = export(local.store, "home", tmp_path / "log.dsjson")
    assert done.rows == 27 and done.skipped == 0
    for line, row in zip((tmp_path / "log.dsjson").read_text().splitlines(), rows, strict=False):
        event, (context, arms) = json.loads(line), request_cases.asked(int(row.id.partition("-")[2]))
        actions = event["c"]["_multi"]
        assert [(each["TAction"]["a"], each.get("TFeatures")) for each in actions] == list(arms.items())
        assert actions[event["_labelIndex"]]["TAction"]["a"] == row.played and event["c"]["GUser"] == context
        assert event["_label_probability"] == row.propensity
    log = hsb.logs.open(tmp_path / "log.dsjson", "dsjson", arm="TAction.a", context=["GUser.age"])
    assert sum(len(batch) for batch in log) == 27
    local.close()
