"""Candidates of any kind on contexts with names: those of numbers get the encoding of `hsb train`, what cannot work is refused."""

import json

import numpy as np
import pytest
from support.serve.http_cases import running
from support.waiting import wait_until

import hsb
from hsb.serve.core.kinds import make_policy
from hsb.serve.store import views
from hsb.serve.store.sqlite import SqliteReader

KINDS = ["EpochGreedy", "HSB", "LinUCB", "SExp3", "TreeThompson", "CsbFtpl", "Exp3", "Uniform"]


def contexts(count, seed=0):
    rng = np.random.default_rng(seed)
    return [
        {
            "device": str(rng.choice(["ios", "android", "web"])),
            "hour": int(rng.integers(24)),
            "member": bool(rng.random() < 0.3),
        }
        for _ in range(count)
    ]


def learned(one, name, some):
    """Decide on contexts and reward android at night."""
    for begin in range(0, len(some), 500):
        part = some[begin : begin + 500]
        rows = one.post(f"/v1/policies/{name}/decisions/batch", {"decisions": [{"context": each} for each in part]}).json[
            "rows"
        ]
        results = [row["result"] for row in rows]
        wins = [
            {"decision": it["id"], "reward": float((each["device"] == "android") == (it["arm"] == "a"))}
            for it, each in zip(results, part, strict=True)
        ]
        assert {row["status"] for row in one.post("/v1/rewards", {"rewards": wins}).json["rows"]} <= {200, 202}


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    with running(tmp_path_factory.mktemp("kinds") / "hsb.db") as result:
        assert result.post("/v1/policies", {"name": "shop", "arms": ["a", "b", "c"], "floor": 0.2}).status == 201
        learned(result, "shop", contexts(400))
        yield result


def read_all(one, url):
    wait_until(lambda: (result := one.get(url).json)["read"] >= result["version"])
    return one.get(url).json


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_that_is_available_works(one, kind):
    """It reads all updates, values and learns them, and, if it may play, decides after its promotion; then what played before plays again."""
    url = "/v1/policies/shop/candidates"
    response = one.post(url, {"name": kind, "policy": {"kind": kind}})
    assert response.status == 201, response
    result = read_all(one, f"{url}/{kind}")
    assert result["not_learned"] == 0 and result["updates_valued"] >= 400
    if kind == "CsbFtpl":  # it only estimates its propensities, and there is a floor
        assert one.post(f"{url}/{kind}/promote").status == 422
    else:
        assert one.post(f"{url}/{kind}/promote").status == 200
        for context in contexts(20, 1):
            assert one.post("/v1/policies/shop/decisions", {"context": context}).status == 201
        assert one.post("/v1/policies/shop/decisions", {"context": {"hour": 3, "device": "new"}}).status == 201
        before = [each["name"] for each in one.get(url).json["candidates"] if each["name"].startswith("before-")]
        assert one.post(f"{url}/{before[-1]}/promote").status == 200
    for each in one.get(url).json["candidates"]:
        assert one.ask("DELETE", f"{url}/{each['name']}").status == 204


def test_it_learns_from_what_contexts_say(one):
    """LinUCB sees which device asks."""
    url = "/v1/policies/shop/candidates"
    assert one.post(url, {"name": "linear", "policy": {"kind": "LinUCB", "alpha": 0.1}}).status == 201
    read_all(one, f"{url}/linear")
    assert one.post(f"{url}/linear/promote").status == 200
    answers = {
        device: one.get(f'/v1/policies/shop/probabilities?context={{"device":"{device}","hour":5,"member":false}}').json[
            "probabilities"
        ]
        for device in ("android", "ios")
    }
    assert answers["android"]["a"] > 0.8 and answers["ios"]["a"] < 0.2
    shown = one.get("/v1/policies/shop").json["policy"]
    assert shown["encoding"] == {"device": "category", "hour": "number", "member": "flag"}
    before = next(each["name"] for each in one.get(url).json["candidates"] if each["name"].startswith("before-"))
    assert one.post(f"{url}/{before}/promote").status == 200
    for each in one.get(url).json["candidates"]:
        assert one.ask("DELETE", f"{url}/{each['name']}").status == 204


def test_a_candidate_of_numbers_goes_on_after_a_start(tmp_path):
    """State, digests and decisions are those of before, from a snapshot and from nothing. Its encoding holds no text."""
    from hsb.serve.checking import check
    from hsb.serve.store.sqlite import SqliteReader

    with running(tmp_path / "hsb.db") as one:
        assert one.post("/v1/policies", {"name": "shop", "arms": ["a", "b", "c"], "floor": 0.2}).status == 201
        learned(one, "shop", contexts(60))
        url = "/v1/policies/shop/candidates"
        for kind in ("LinUCB", "TreeThompson"):
            assert one.post(url, {"name": kind, "policy": {"kind": kind}}).status == 201
            read_all(one, f"{url}/{kind}")
        assert one.post(f"{url}/TreeThompson/promote").status == 200
        learned(one, "shop", contexts(30, 2))
        rows = [json.loads(line) for line in one.get("/v1/policies/shop/journal").raw.splitlines()]
        result = [json.dumps(row["data"]) for row in rows if row["kind"] == "candidate"]
        assert len(result) == 2 and not any(text in each for each in result for text in ("android", "ios"))
        digests, key = one.get("/v1/policies/shop?digest=true").json["digests"], one.key
        assert one.post("/v1/policies/shop/snapshots").status == 201
    with running(tmp_path / "hsb.db") as one:
        assert one.get("/v1/policies/shop?digest=true", key=key).json["digests"] == digests
        result = one.post("/v1/policies/shop/decisions", {"context": contexts(1, 3)[0]}, key=key).json["id"]
        assert one.get(f"/v1/policies/shop/decisions/{result}?recompute=true", key=key).json["recomputed"]["same"]
    reader = SqliteReader(tmp_path / "hsb.db")
    report = check(reader)
    reader.close()
    assert report.sound and report.digests["shop"] == digests[""]


REFUSED = [
    ({"kind": "TreeThompson", "structure": {"kind": "BinaryTree", "depth": 5, "space": {"low": 0, "high": 1}}}, "Leave it out"),
    ({"kind": "HSB", "features": {"hour": "number"}}, "device"),
    ({"kind": "LinUCB", "features": 3}, "policy.features"),
    ({"kind": "LinUCB", "encoding": {}}, "policy.encoding"),
    ({"kind": "SExp3", "components": -1}, "policy.components"),
    ({"kind": "MixtureOfMappings"}, "structure smaller"),
]


@pytest.mark.parametrize(("policy", "why"), REFUSED)
def test_what_cannot_take_these_contexts_is_refused(one, policy, why):
    """When it is made, over the API and on the page."""
    response = one.post("/v1/policies/shop/candidates", {"name": "no", "policy": policy})
    assert response.status == 422 and why in response.json["detail"], response
    settings = json.dumps({name: value for name, value in policy.items() if name != "kind"})
    reply = one.post("/p/shop/candidates", raw=form(do="add", name="no", kind=policy["kind"], settings=settings), headers=FORM)
    assert reply.status == 422
    assert one.get("/v1/policies/shop").json["candidates"] == []


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def form(**fields):
    from urllib.parse import urlencode

    return urlencode(fields)


def test_before_there_are_updates(one):
    """Nothing is known of contexts: a policy of numbers waits, or says itself what they are."""
    one.post("/v1/policies", {"name": "empty", "arms": ["a", "b"], "floor": 0})
    url = "/v1/policies/empty/candidates"
    response = one.post(url, {"name": "t", "policy": {"kind": "TreeThompson"}})
    assert response.status == 422 and "has no updates yet" in response.json["detail"]
    assert one.post(url, {"name": "l", "policy": {"kind": "LinUCB", "features": 2}}).status == 201
    assert one.post("/v1/policies/empty/decisions", {"id": "named", "context": {"x": 1.5}}).status == 201
    response = one.post(f"{url}/l/promote")  # decisions have names: it could make none
    assert response.status == 422 and "does not accept contexts of this policy" in response.json["detail"]
    assert one.post("/v1/decisions/named/reward", {"reward": 1}).status == 200
    response = one.post(f"{url}/l/promote")
    assert response.status == 422 and "none of 1 updates" in response.json["detail"]
    assert one.post("/p/empty/candidates", raw=form(do="promote", name="l"), headers=FORM).status == 422
    assert one.post("/v1/policies/empty/decisions", {"context": {"x": 1.5}}).status == 201


def test_numbers_need_no_encoding(one):
    """A policy whose contexts are rows of numbers takes LinUCB with their number."""
    one.post("/v1/policies", {"name": "rows", "arms": ["a", "b"], "policy": {"kind": "LinUCB", "features": 2}, "floor": 0.1})
    for k in range(10):
        response = one.post("/v1/policies/rows/decisions", {"context": [k / 10, 1.0]})
        assert response.status == 201
        assert one.post(f"/v1/decisions/{response.json['id']}/reward", {"reward": 1}).status == 200
    url = "/v1/policies/rows/candidates"
    assert one.post(url, {"name": "same", "policy": {"kind": "LinUCB", "features": 2, "alpha": 0.1}}).status == 201
    assert one.post(url, {"name": "wrong", "policy": {"kind": "LinUCB", "features": 3}}).status == 422
    assert read_all(one, f"{url}/same")["not_learned"] == 0
    assert one.post(url + "/same/promote").status == 200


def test_a_file_that_cannot_take_these_contexts_is_refused(one, tmp_path):
    """It would make every decision a 422."""
    import hsb

    hsb.HSB(hsb.BinaryTree(depth=3), arms=["a", "b", "c"]).save(tmp_path / "tree.hsb")
    raw = (tmp_path / "tree.hsb").read_bytes()
    response = one.ask("PUT", "/v1/policies/shop/state", raw=raw, headers={"Content-Type": "application/octet-stream"})
    assert response.status == 422 and "does not accept contexts of this policy" in response.json["detail"]


def test_forms_offer_what_works(one):
    """Kinds that would be refused are not in the lists; what only estimates its propensities cannot play above a floor."""
    for section, available in (("candidates", set(KINDS) - {"CsbFtpl"}), ("what-if", set(KINDS))):
        assert set(one.get(f"/p/shop/{section}.json").json["kinds"]) == available


@pytest.mark.parametrize(
    "kind", [kind if kind in ("HSB", "LinUCB") else pytest.param(kind, marks=pytest.mark.long) for kind in KINDS]
)
def test_what_if_takes_every_kind_that_it_offers(one, kind):
    reply = one.post("/p/shop/what-if", raw=form(kind=kind, uniform="on", settings=""), headers=FORM)
    assert reply.status == 303
    newest = one.get("/v1/policies/shop/evaluations").json["evaluations"][0]
    url = f"/v1/policies/shop/evaluations/{newest['id']}"
    wait_until(lambda: one.get(url).json["status"] not in ("waiting", "running"))
    response = one.get(url).json
    assert response["status"] == "done", response.get("error")
    assert set(response["result"]["candidates"]) == {"uniform", kind}


def test_a_policy_of_numbers_says_how_contexts_may_have_names(one):
    """What it says works: an HSB at first, and this kind as a candidate when there are updates."""
    for kind in ("LinUCB", "TreeThompson"):
        response = one.post("/v1/policies", {"name": f"new-{kind}", "arms": ["a", "b"], "policy": {"kind": kind}})
        assert response.status == 422 and "begin with HSB, and add this one as a candidate" in response.json["detail"]
    url = "/v1/policies/first/candidates"
    assert one.post("/v1/policies", {"name": "first", "arms": ["a", "b", "c"]}).status == 201
    learned(one, "first", contexts(10))
    assert one.post(url, {"name": "linear", "policy": {"kind": "LinUCB"}}).status == 201


def test_long_contexts_are_read_in_part(one, monkeypatch):
    """Ten thousand updates of 64 KB would be a gigabyte: of the first, as many are read as the letters allow."""
    reader, shop = SqliteReader(one.service.path), one.service.core.policies["shop"].id
    try:
        whole, newest = views.contexts(reader, shop, 50, 5)
        letters = [len(json.dumps(each, separators=(",", ":"))) for each in whole]
        monkeypatch.setattr(views, "MOST_LETTERS", sum(letters[:20]) + 1)
        assert views.contexts(reader, shop, 50, 5) == (whole[:20], newest)
        assert len(whole) == 50 and len(newest) == 5
    finally:
        reader.close()


def test_slots_are_for_programs():
    with pytest.raises(hsb.InputError, match="slots: the service decides one arm at a time"):
        make_policy({"slots": 2}, ["a", "b"])
