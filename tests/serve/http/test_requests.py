"""Arms that come with each request, over HTTP: policies, decisions, batches, OFREP, Remote; and requests that mean harm."""

import json
import threading

import pytest
from support.serve.http_cases import running
from support.serve.request_cases import GROUPS, asked, reward_of

import hsb
from hsb.serve.checking import check
from hsb.serve.core.requests import MOST_OFFERED
from hsb.serve.store.sqlite import SqliteReader

URL = "/v1/policies/open/decisions"


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    path = tmp_path_factory.mktemp("http") / "hsb.db"
    with running(path) as result:
        assert result.post("/v1/policies", {"name": "open", "arms": GROUPS}).status == 201
        result.make("fixed")
        yield result
    report = check(SqliteReader(str(path)))
    assert report.sound, report


@pytest.fixture
def remote(one):
    result = hsb.Remote(f"http://127.0.0.1:{one.port}", policy="open", key=one.key)
    yield result
    result.close()


def learn(remote, n, first=0):
    for k in range(first, first + n):
        context, arms = asked(k)
        decision = remote.decide(context, arms=arms)
        assert remote.learn(decision, reward=reward_of(decision.arm, arms)) == "learned"
    return decision


def test_the_policy_is_described(one, remote):
    learn(remote, 30)
    about = one.get("/v1/policies/open").json
    assert about["open"] == GROUPS["open"] and about["arms"] == ["other arms", "home", "topic=news", "topic=sport"]
    known = about["known_arms"]
    plays = [arm["plays"] for arm in known["most_played"]]
    assert known["count"] > 3 and plays == sorted(plays, reverse=True) and sum(plays) <= about["updates"]
    assert all(0.0 <= arm["average_reward"] <= 1.0 for arm in known["most_played"])
    assert one.get("/v1/policies/fixed").json["open"] is None
    assert f'hsb_policy_known_arms{{policy="open"}} {known["count"]:.1f}' in one.get("/metrics").raw.decode()
    stats = one.get("/v1/policies/open/stats").json["buckets"]
    assert {arm for bucket in stats for arm in bucket["arms"]} <= set(about["arms"])


def test_average_rewards_are_those_of_the_journal(one, remote):
    learn(remote, 30, first=30)
    lines = [json.loads(line) for line in one.get("/v1/policies/open/journal").raw.splitlines()]
    rewards = {}
    for line in lines:
        if line["kind"] == "update":
            rewards.setdefault(line["decision"]["arm"], []).append(line["reward"])
    for arm in one.get("/v1/policies/open").json["known_arms"]["most_played"]:
        assert arm["plays"] == len(rewards[arm["arm"]])
        assert arm["average_reward"] == pytest.approx(sum(rewards[arm["arm"]]) / arm["plays"])


def test_a_decision_is_shown_and_computed_again(one, remote):
    decision = learn(remote, 5, first=60)
    shown = one.get(f"{URL}/{decision.id}?recompute=true").json
    context, arms = asked(64)
    assert (shown["context"], shown["arms"], shown["arm"]) == (context, arms, decision.arm)
    assert shown["available"] == list(arms) == list(decision.available) and shown["recomputed"]["same"]


def test_probabilities_sum_to_one(remote, one):
    context, arms = asked(7)
    p = remote.probabilities(context, arms=arms)
    assert list(p) == list(arms) and sum(p.values()) == pytest.approx(1.0) and min(p.values()) >= 0.02 / len(arms)
    assert one.get("/v1/policies/open/probabilities?context={}").json["pointer"] == "/arms"


def test_a_batch_and_lists_of_names(one):
    context, arms = asked(3)
    rows = [{"context": context, "arms": arms}, {"context": context, "arms": ["x", "y"]}, {"context": context}]
    answer = one.post(f"{URL}/batch", {"decisions": rows}).json["rows"]
    assert [row["status"] for row in answer] == [201, 201, 422]
    assert answer[0]["result"]["arm"] in arms and answer[1]["result"]["arm"] in ("x", "y")
    assert answer[2]["problem"]["pointer"] == "/arms"


def test_what_an_open_policy_refuses(one):
    for method, path in (("PUT", "arms/new"), ("DELETE", "arms/home")):
        assert one.ask(method, f"/v1/policies/open/{path}").status == 422
    evaluation = one.post("/v1/policies/open/evaluations", {"candidates": {"x": {"uniform": True}}})
    assert evaluation.status == 422 and "Add a candidate" in evaluation.json["detail"]
    assert "come with each request" in one.get("/v1/policies/open/rules").json["detail"]
    assert "fixed list" in one.post("/v1/policies/fixed/decisions", {"arms": ["a"]}).json["detail"]


def test_candidates_over_http(one, remote):
    assert one.post("/v1/policies/open/candidates", {"name": "careful", "policy": {"implicit": True}}).status == 201
    learn(remote, 20, first=100)
    shown = one.get("/v1/policies/open/candidates/careful").json
    assert shown["difference"]["updates"] == 20 and shown["not_learned"] == 0
    assert one.ask("DELETE", "/v1/policies/open/candidates/careful").status == 204


def test_ofrep_takes_the_arms_of_the_context(one):
    url, (context, arms) = "/ofrep/v1/evaluate/flags/open", asked(9)
    person = context | {"targetingKey": "anna"}
    flag = one.post(url, {"context": person | {"arms": arms}}).json
    assert flag["variant"] in arms and flag["value"] == flag["variant"]
    stored = one.get(f"{URL}/{flag['metadata']['decision']}").json
    assert stored["context"] == context and stored["arms"] == arms
    assert one.post(url, {"context": person | {"arms": arms}}).json == flag  # sticky
    other = one.post(url, {"context": person | {"arms": ["x", "y"]}}).json
    assert other["variant"] in ("x", "y")
    without = one.post(url, {"context": person})
    assert (
        without.status == 400
        and without.json["errorCode"] == "INVALID_CONTEXT"
        and "arms is missing" in without.json["errorDetails"]
    )
    both = {
        each["key"]: each for each in one.post("/ofrep/v1/evaluate/flags", {"context": person | {"arms": ["x"]}}).json["flags"]
    }
    assert both["open"]["variant"] == "x" and both["fixed"]["variant"] in "abc"
    for wrong in (7, "x", {"z": 7}, [], [None], {}):
        assert one.post(url, {"context": person | {"arms": wrong}}).status == 400


def test_remote_checks_arms(remote):
    with pytest.raises(hsb.InputError, match="The service's arms have names"):
        remote.decide({}, arms=[1, 2])
    with pytest.raises(hsb.InputError, match="arms is empty"):
        remote.decide({}, arms={})
    with pytest.raises(hsb.InputError, match="arms is missing"):
        remote.decide({})


def test_a_person_is_forgotten(one, remote):
    """The field is one of the context in the request; names of features of arms are no fields."""
    _, arms = asked(400)
    for user in ("alice", "bob", "alice"):
        decision = remote.decide({"user.id": user}, arms=arms)
        remote.learn(decision, reward=1.0)
    ask = "/v1/policies/open/decisions?field={}&value={}"
    assert one.ask("DELETE", ask.format("topic", "news")).json["forgotten"] == 0
    assert one.ask("DELETE", ask.format("user.id", "alice")).json["forgotten"] == 2
    shown = one.get(f"{URL}/{decision.id}").json
    assert shown["forgotten"] and shown["context"] is None and shown["arm"] == decision.arm and shown["available"] == []
    models = one.service.core.policies["open"].live.policy.learner.models
    assert "alice" not in str(models.x_reader.to_dict()) and "bob" in str(models.x_reader.to_dict())
    learn(remote, 3, first=401)


def harmful():
    """Bodies that mean harm, and the statuses that they may get."""
    deep = "[" * 200_000
    yield json.dumps({"arms": {f"a{k}": {"x": "y" * 20} for k in range(40_000)}}), 413
    yield '{"arms": {"a": {"x": {1}}}}', 400
    yield '{"arms": {"a": {"x": ' + deep, 400
    yield json.dumps({"arms": {f"a{k}": None for k in range(40_000)}}), 422
    yield json.dumps({"arms": [f"a{k}" for k in range(100_001)]}), 422
    yield json.dumps({"arms": [f"{k}" for k in range(90_000)]}), 422
    yield json.dumps({"arms": {"a": 7}}), 422
    yield json.dumps({"arms": {"a": [1]}}), 422
    yield json.dumps({"arms": {"a": "x"}}), 422
    yield json.dumps({"arms": "x"}), 422
    yield json.dumps({"arms": [7]}), 422
    yield '{"arms": {"a": {"price": NaN}}}', 400
    yield '{"arms": {"a": {"price": 1e999}}}', 422
    yield json.dumps({"arms": {"a": {"x" * 5000: 1}}}), 422
    yield json.dumps({"arms": {"x" * 5000: None}}), 422
    yield json.dumps({"arms": {"a": {f"f{k}": k for k in range(300)}}}), 422
    yield json.dumps({"arms": {f"a{k}": {f"f{j}": 1 for j in range(40)} for k in range(MOST_OFFERED)}}), 422
    yield json.dumps({"arms": {"a": {"x": nested(40)}}}), 422
    yield '{"arms": {"a": null}, "arms": 7}', 422
    yield json.dumps({"arms": {"a": None}, "available": ["a"]}), 422


def nested(levels):
    return {"x": nested(levels - 1)} if levels else 1


def test_harmful_requests_change_nothing(one, remote):
    learn(remote, 5, first=200)
    before = one.get("/v1/policies/open?digest=true").json["digests"]
    for raw, status in harmful():
        answer = one.post(URL, raw=raw.encode())
        assert answer.status == status, (raw[:100], answer)
        assert answer.json["detail"].endswith(".") or status == 400
        one.connections.one.close()
    assert one.get("/v1/policies/open?digest=true").json["digests"] == before
    learn(remote, 5, first=205)


def test_huge_but_valid_requests_do_not_stop_the_service(one, remote):
    """While requests with as many arms as are allowed are decided and learned, others get their answers."""
    arms = {f"big{k}": {f"f{j}": (k * j) % 7 for j in range(20)} for k in range(MOST_OFFERED)}
    done = []

    def send():
        own = hsb.Remote(f"http://127.0.0.1:{one.port}", policy="open", key=one.key, timeout=60)
        for _ in range(3):
            done.append(own.learn(own.decide({"age": 30, "country": "d"}, arms=arms), reward=1.0))
        own.close()

    thread = threading.Thread(target=send)
    thread.start()
    learn(remote, 10, first=300)
    thread.join(120)
    assert done == ["learned"] * 3
