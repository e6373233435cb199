"""Maps, and contexts to try."""

import pytest

pytest.importorskip("starlette")
pytest.importorskip("jinja2")

import pytest
from support.serve import page_harness as harness

import hsb
from hsb.files.policy_file import pack
from hsb.serve.core import Create, Decide, Import, Reward
from hsb.serve.page import trying

pytest.importorskip("starlette")
pytest.importorskip("jinja2")
from support.serve.http_cases import running


@pytest.fixture
def made(tmp_path):
    service = harness.Harness(tmp_path / "hsb.db")
    yield service
    service.close()


def updates(made, name, contexts):
    """All are decided before the first is learned, so that the form of one context may be refused for another's."""
    made.local.ask(Create(1, {"name": name, "arms": ["a", "b"], "policy": {"kind": "HSB"}}, name[:1].encode() * 32))
    for k, context in enumerate(contexts):
        assert made.local.ask(Decide(2, name, f"{name}-{k}", context)).status == "created"
    messages = [made.local.ask(Reward(3, f"{name}-{k}", 1.0)).status for k in range(len(contexts))]
    assert messages == ["learned", *["not_learned"] * (len(contexts) - 1)]
    return made.client()


@pytest.fixture
def poisoned(made):
    return updates(made, "poison", [{"country": 5}, {"country": "DE"}])


def test_a_map_leaves_out_what_could_not_be_learned(made, poisoned):
    assert made.core.policies["poison"].live.not_learned == 1
    result = poisoned.get("/p/poison/map.json").json()
    assert result["error"] is None and result["context"] == {"country": 5} and result["x_steps"] == [5]
    assert [row["context"] for row in result["point"]["nearest"]] == ['{"country": 5}'] and len(result["columns"]) == 1
    text = poisoned.get("/p/poison/map").text
    assert 'role="alert"' not in text and "DE" not in text
    entered = poisoned.get("/p/poison/map", params={"point": '{"country": "DE"}'}).text
    assert 'role="alert"' in entered and "has had a number" in entered  # what was entered is refused in words


def test_a_map_without_any_context_that_the_policy_takes(poisoned, monkeypatch):
    monkeypatch.setattr(trying, "LATELY", 1)
    text = poisoned.get("/p/poison/map").text
    assert 'role="alert"' not in text and "accepts no context of the last" in text and "<form" in text
    for entered, alarm, rows in (('{"country": 7}', 0, 1), ("{", 1, 0), ("null", 1, 0)):
        text = poisoned.get("/p/poison/map", params={"point": entered}).text
        assert (text.count('role="alert"'), text.count("Probabilities in this context")) == (alarm, rows), entered


def test_a_map_leaves_out_steps_that_the_policy_refuses(made):
    """A policy that has learned nothing takes contexts of any form; a name alone is none."""
    client = updates(made, "mixed", [{"name": "Ann", "age": 3}, 7.0])
    assert made.local.ask(Import(1, "mixed", pack(hsb.HSB(arms=["a", "b"])))).status == "done"
    response = client.get("/p/mixed/map.json", params={"x": "name"}).json()
    assert (response["error"], response["context"], response["x_steps"], response["columns"]) == (None, 7.0, [], [])
    response = client.get("/p/mixed/map.json", params={"x": "age", "y": "name"}).json()
    assert (response["error"], response["tiles"]) == (None, [])
    assert client.get("/p/mixed/map", params={"x": "age", "y": "name"}).status_code == 200


def test_a_map_of_what_no_float_holds_and_of_arms_that_a_file_lacks(tmp_path):
    with running(tmp_path / "hsb.db") as one:
        one.make()
        for k, context in enumerate(["1" + 400 * "0", "1e308", "-1e308", "[1" + 400 * "0" + "]", "1", "2", "3"]):
            assert one.post("/v1/policies/home/decisions", raw=f'{{"id": "d{k}", "context": {context}}}').status == 201
            assert one.post(f"/v1/decisions/d{k}/reward", {"reward": 1}).status == 200
        for point in ("", "NaN", "1e999", "%22%5Cud800%22", "1" + 400 * "0"):
            for end in ("", ".json"):
                assert one.get(f"/p/home/map{end}?point={point}").status == 200, point
        assert one.ask("DELETE", "/v1/policies/home/arms/a").status == 204
        hsb.Exp3(arms=["c", "b"]).save(tmp_path / "two.hsb")
        state = {"raw": (tmp_path / "two.hsb").read_bytes(), "headers": {"Content-Type": "application/octet-stream"}}
        assert one.ask("PUT", "/v1/policies/home/state", **state).status == 200
        rows = one.get("/p/home/map.json").json["point"]["rows"]
        assert {row["arm"]: row["played"] for row in rows} == {"b": 0.5, "c": 0.5}
