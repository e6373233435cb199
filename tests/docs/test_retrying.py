"""What docs/retrying.md says of second requests is asked of a real service."""

import pytest
from support import pages
from support.serve.http_cases import running

import hsb

TEXT = (pages.DOCS / "retrying.md").read_text()
SUMS = {"wait": 3600, "default_reward": 0, "aggregate": "sum"}


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    with running(tmp_path_factory.mktemp("retrying") / "hsb.db") as service:
        yield service


def reward(one, decision, value, **more):
    answer = one.post(f"/v1/decisions/{decision}/reward", {"reward": value} | more)
    return answer.status, answer.json.get("status")


def test_a_decision_with_an_id_is_made_once(one):
    one.make("decided")
    path, body = "/v1/policies/decided/decisions", {"id": "order-77", "context": {"age": 31}}
    first, again = one.post(path, body), one.post(path, body)
    assert (first.status, again.status) == (201, 200) and first.json == again.json
    assert one.post(path, body | {"context": {"age": 32}}).status == 409
    assert one.post(path, raw=b'{"id": "order-77", "context": {"age": 31.0}}').status == 409
    results = [one.post(path, {"context": {"age": 31}}) for _ in range(2)]
    assert [each.status for each in results] == [201, 201] and results[0].json["id"] != results[1].json["id"]


def test_a_reward_is_learned_once(one):
    one.make("learned")
    for name in ("l1", "l2"):
        one.post("/v1/policies/learned/decisions", {"id": name, "context": {"age": 31}})
    assert [reward(one, "l1", 1) for _ in range(2)] == [(200, "learned"), (200, "duplicate")]
    assert reward(one, "l1", 0)[0] == 409
    assert [reward(one, "l1", 1, id="late")[0] for _ in range(2)] == [410, 410] and reward(one, "l1", 0, id="late")[0] == 409
    assert reward(one, "nobody", 1)[0] == 404
    rows = one.post("/v1/rewards", {"rewards": [{"decision": "l1", "reward": 1}, {"decision": "l2", "reward": 1}]})
    assert rows.status == 200 and [row["result"]["status"] for row in rows.json["rows"]] == ["duplicate", "learned"]


def test_rewards_that_wait_have_ids_of_their_own(one):
    one.make("summed", feedback=SUMS)
    one.post("/v1/policies/summed/decisions", {"id": "s1", "context": {"age": 31}})
    assert [reward(one, "s1", 0.25) for _ in range(2)] == [(202, "accepted"), (200, "duplicate")]
    assert reward(one, "s1", 0.5)[0] == 409
    assert [reward(one, "s1", 0.5, id="two") for _ in range(2)] == [(202, "accepted"), (200, "duplicate")]


def test_a_change_with_a_key_of_its_own_is_carried_out_once(one):
    body, headers = {"name": "once", "arms": ["a", "b"]}, {"Idempotency-Key": "k1"}
    first, again = (one.post("/v1/policies", body, headers=headers) for _ in range(2))
    assert (first.status, again.status) == (201, 201) and first.json == again.json
    assert one.post("/v1/policies", body | {"arms": ["a", "c"]}, headers=headers).status == 422


def test_its_snippets_run(one, tmp_path, monkeypatch):
    one.make("home")
    monkeypatch.chdir(tmp_path)
    names = pages.run(TEXT, "docs/retrying.md", {"url": f"http://127.0.0.1:{one.port}", "key": one.key}, all_of_them=True)
    names["policy"].close()
    assert isinstance(names["policy"], hsb.Remote) and "`retries=4`" in TEXT
