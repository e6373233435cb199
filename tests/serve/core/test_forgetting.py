"""Names of categories and tags that are forgotten with the decisions that had them: in no snapshot, in no row, and the policy is the same."""

import json
import zipfile
from io import BytesIO

import numpy as np
import pytest
from support.serve.core_cases import At, make
from support.serve.http_cases import running

import hsb
from hsb.policy.renaming import rename_texts
from hsb.serve.checking import check
from hsb.serve.core import AddCandidate, Decide, Forget, ForgetWords, Reward, TakeSnapshot
from hsb.serve.store import recover

ALICE = "alice@example.org"


def context(k):
    user = ALICE if k % 5 == 0 else f"user {k % 4}"
    return {"user": user, "lists": [ALICE, "news"] if k % 10 == 0 else ["news"], "country": "de" if k % 3 else "fr", "x": k % 7}


def filled(at, first, last):
    at.ask_all([Decide(k, "home", f"d{k}", context(k)) for k in range(first, last)])
    at.ask_all([Reward(k, f"d{k}", float(k % 2)) for k in range(first, last)])


@pytest.fixture
def at(tmp_path):
    local = At(tmp_path / "hsb.db")
    yield local
    local.close()


def headers(at):
    files = [row.body for rows in at.store.snapshots(1) for row in rows]
    return [zipfile.ZipFile(BytesIO(body)).read("header.json").decode() for body in files]


def test_nothing_is_left_and_the_policy_is_the_same(at):
    make(at, policy={"kind": "HSB"})
    assert at.says(AddCandidate(0, "home", "new", {"kind": "HSB", "implicit": True})) == "created"
    filled(at, 0, 60)
    assert at.says(TakeSnapshot(0, "home")) == "done" and any(ALICE in each for each in headers(at))
    before = [at.home.decide(f"p{k}", context(k) | {"user": "user 1", "lists": []}, None, None, True, 0) for k in range(20)]
    mine = [f"d{k}" for k in range(0, 60, 5)]
    assert at.says(ForgetWords(0, "home", [ALICE])) == "done" and at.says(Forget(0, "home", mine)) == "done"
    assert headers(at) and not any(ALICE in each for each in headers(at))
    after = [at.home.decide(f"p{k}", context(k) | {"user": "user 1", "lists": []}, None, None, True, 0) for k in range(20)]
    assert [row[4:6] for row in after] == [row[4:6] for row in before]
    for learner in (at.home.live, *at.home.candidates.values()):
        names = learner.policy.learner.reader.column_names
        assert sum("(forgotten)" in name for name in names) == 2 and not any(ALICE in name for name in names)
    filled(at, 60, 80)  # whoever comes back is somebody new
    assert recover(at.store)["home"].served.digests() == at.home.digests() and check(at.store).sound
    raw = at.store.rows("SELECT data FROM stream WHERE kind = 9")
    assert len(raw) == 1 and ALICE not in raw[0][0] and len(json.loads(raw[0][0])["words"]) == 1


def test_where_columns_are_shared_names_lead_to_the_same_ones(tmp_path):
    """A small width: new names are looked for until their hashes lead to the indices that the old ones had; the file is one that loads."""
    policy, rng = hsb.HSB(arms=["a", "b"], features=hsb.Features().limit(width=8), seed=0), np.random.default_rng(0)
    for _ in range(150):
        decision = policy.decide({"user": f"u{rng.integers(40)}", "tags": [f"t{k}" for k in rng.integers(0, 9, 2)]})
        policy.learn(decision, reward=float(rng.random() < 0.4))
    twin = policy.copy()
    assert rename_texts(policy, lambda text, tries: f"{text} {tries}" if text in ("u3", "t4", "u17") else None)
    assert not rename_texts(policy, lambda text, tries: None)
    mine, theirs = policy.learner.reader, twin.learner.reader
    assert theirs.layout.crowded and (mine.column_inputs == theirs.column_inputs).all()
    assert (mine.layout.where == theirs.layout.where).all() and mine.column_names != theirs.column_names
    for k in range(60):
        asked = {"user": f"u{20 + k % 20}", "tags": ["t1"]}
        one, other = policy.propose(asked, u=k / 60), twin.propose(asked, u=k / 60)
        assert (one.arm, one.propensity) == (other.arm, other.propensity)
    for each in (policy, twin):
        each.learn_proposed(each.propose({"user": "u1", "tags": []}, u=0.5), reward=1.0)
    policy.save(tmp_path / "policy.hsb")
    again = hsb.load(tmp_path / "policy.hsb")
    assert again.digest() == policy.digest() and again.learner.reader == policy.learner.reader


def test_over_http(tmp_path):
    with running(tmp_path / "hsb.db") as one:
        one.make("home", policy={"kind": "HSB"})
        for k in range(20):
            reply = one.post("/v1/policies/home/decisions", {"context": context(k)}).json
            one.post(f"/v1/decisions/{reply['id']}/reward", {"reward": 1})
        response = one.ask("DELETE", f"/v1/policies/home/decisions?field=user&value={ALICE}")
        assert response.json == {"policy": "home", "forgotten": 4}
        listed = one.get("/v1/policies/home/snapshots").json["snapshots"]
        for each in [each["seq"] for each in listed]:
            body = one.get(f"/v1/policies/home/snapshots/{each}.hsb").raw
            assert ALICE.encode() not in zipfile.ZipFile(BytesIO(body)).read("header.json")
        names = one.service.core.policies["home"].live.policy.learner.reader.column_names
        assert any("user 1" in name for name in names) and not any(ALICE in name for name in names)
    assert ALICE.encode() not in (tmp_path / "hsb.db").read_bytes()
