"""hsb.Remote against a real service."""

import datetime
import subprocess
import sys
import threading

import numpy as np
import pytest
from support.serve.http_cases import QUICK, running

import hsb
from hsb.client import RemoteDecision


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    with running(tmp_path_factory.mktemp("remote") / "hsb.db") as result:
        result.make()
        result.make("scaled", policy=QUICK | {"reward_range": [10, 20]})
        yield result


@pytest.fixture
def remote(one):
    result = hsb.Remote(f"http://127.0.0.1:{one.port}", policy="home", key=one.key)
    yield result
    result.close()


def test_decide_and_learn(one, remote):
    result = remote.decide({"age": np.int64(3), "at": np.array([0.5])}, available=["a", "b"])
    assert result.arm in "ab" and result.propensity == 0.5 and isinstance(result, RemoteDecision)
    assert remote.learn(result, reward=1.0) == "learned" and remote.learn(result, reward=1.0) == "duplicate"
    assert remote.decide(0.5, id="mine").arm == remote.decide(0.5, id="mine").arm
    assert remote.learn("mine", reward=True) == "learned"
    assert sum(remote.probabilities(0.5).values()) == pytest.approx(1)
    assert remote.about()["updates"] >= 2 and one.key not in repr(remote)


def test_losses_are_mirrored(one):
    remote = hsb.Remote(f"http://127.0.0.1:{one.port}/v1/policies/scaled", key=one.key)
    result = remote.decide(0.1)
    remote.learn(result, loss=12.0)
    response = one.get(f"/v1/policies/scaled/decisions/{result.id}").json
    assert response["learned_reward"] == 18.0
    remote.close()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda r: r.decide(0.5, available=["z"]), "Unknown arm 'z'"),
        (lambda r: r.decide(float("nan")), "must be JSON without NaN; given"),
        (lambda r: r.decide({"when": datetime.date(2026, 3, 1)}), "'when' is a date, which JSON does not have"),
        (lambda r: r.learn("nobody", reward=1), "no decision 'nobody'"),
        (lambda r: r.learn("nobody"), "exactly one; given neither. If no reward came, do not call learn"),
        (lambda r: r.learn(5, reward=1), "needs a decision"),
        (lambda r: r.learn("d", reward="x"), "must be a number"),
        (lambda r: hsb.Remote("ftp://x", policy="p"), "url must be"),
        (lambda r: hsb.Remote("http://x"), "name of a policy"),
        (lambda r: hsb.Remote("http://x", policy="a/b"), "name of a policy"),
        (lambda r: hsb.Remote("http://x", policy="p", key="a\nb"), "key must be"),
    ],
)
def test_wrong_calls(remote, call, words):
    with pytest.raises(hsb.InputError, match=words):
        call(remote)


def test_without_a_key(one):
    remote = hsb.Remote(f"http://127.0.0.1:{one.port}", policy="home")
    with pytest.raises(hsb.InputError, match=r"The request has no key\. .* hsb\.Remote\(url, key="):
        remote.decide()
    remote.close()


def test_it_tries_again(one, tmp_path):
    """The service goes away and comes back on the same port; a request sent meanwhile is answered, once."""
    remote = hsb.Remote(f"http://127.0.0.1:{one.port}", policy="home", key=one.key, retries=0)
    remote.decide(0.5)
    remote._connection.sock.close()  # a connection that broke
    with pytest.raises(ConnectionError):
        remote.decide(0.5, id="again")
    remote.retries = 3
    remote.decide(0.5)
    remote._connection.sock.close()
    assert remote.decide(0.5, id="again").id == "again"
    remote.close()


def test_busy_services_are_asked_again(one):
    slow = one.post("/v1/keys", {"name": "slow", "scopes": ["decide"], "rate": 1}).json["key"]
    remote = hsb.Remote(f"http://127.0.0.1:{one.port}", policy="home", key=slow)
    assert [remote.decide(0.5).version >= 1 for _ in range(2)] == [True, True]
    remote.retries = 0
    with pytest.raises(ConnectionError, match="429"):
        remote.decide(0.5)
    remote.close()


def test_threads_share_one(remote):
    results = []
    threads = [threading.Thread(target=lambda: results.extend(remote.decide(0.5).id for _ in range(10))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(results)) == 40


def test_it_needs_nothing_of_the_service():
    code = "import sys, hsb; hsb.Remote; assert not any(n.startswith(('hsb.serve', 'uvicorn', 'msgspec', 'starlette')) for n in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
