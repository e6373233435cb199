"""Workers that follow a file: decisions never wait for a load, ids are unique everywhere, and each decision counts once."""

import gc
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.children import forks, in_child
from support.waiting import LIMIT, wait_until

import hsb


def saved(path: Path, rounds: int = 0) -> hsb.Policy:
    """A policy that has learned so many rounds, in a file."""
    policy = hsb.Exp3(arms=["a", "b"], learning_rate=0.1, seed=0)
    for _ in range(rounds):
        policy.learn(policy.decide(), reward=1.0)
    policy.save(path)
    return policy


@pytest.fixture
def path(tmp_path: Path) -> Path:
    saved(tmp_path / "policy.hsb")
    return tmp_path / "policy.hsb"


@pytest.fixture
def following(path: Path) -> Iterator[hsb.Following]:
    with hsb.Following(path, every=None, seed=0) as result:
        yield result


def test_it_follows_and_keeps_its_stream_numbers_and_dice(path: Path, following: hsb.Following) -> None:
    before = [following.decide() for _ in range(3)]
    learner = hsb.load(path)
    for decision in before:
        learner.learn(decision, reward=1.0)
    assert not following.refresh() and following.rounds == 0
    learner.save(path)
    assert following.refresh() and (following.rounds, following.loads, following.error) == (3, 2, None)
    after = [*following.decide_many([None, None]), following.decide(available=["b"])]
    assert [each.number for each in before + after] == list(range(6))
    assert len({each.id.rsplit("-", 1)[0] for each in before + after}) == 1  # type: ignore[union-attr]
    assert following.probabilities().tolist() == learner.probabilities().tolist() and following.arms == ["a", "b"]
    dice = hsb.load(path, seed=0).rng
    dice.random(6)
    assert following.policy.rng.random() == dice.random()  # six were drawn, whatever was loaded
    assert repr(following) == f"Following({str(path)!r}, rounds=3, loads=2)"


def test_it_draws_pages(path: Path) -> None:
    policy = hsb.HSB(hsb.BinaryTree(depth=2), arms=["a", "b", "c"], slots=2, seed=0)
    policy.save(path)
    with hsb.Following(path, every=None, seed=0) as following:
        page = following.decide(0.3, k=2, u=0.4)
        assert page.arms == policy.decide(0.3, k=2, u=0.4).arms
        p = following.probabilities(0.3, available=page[1].available, slot=1)
        assert p[following.arms.index(page.arms[1])] == page.propensities[1]
        policy.learn(hsb.Slate.from_dict(page.to_dict()), rewards=[0, 1])
        assert policy.rounds == 2


def test_it_follows_a_policy_whose_arms_come_with_each_request(tmp_path: Path) -> None:
    """A worker decides, the decision travels as JSON, the learner learns it and replaces the file."""
    learning, path = hsb.HSB(arms=hsb.Open(), seed=0), tmp_path / "open.hsb"
    learning.save(path)
    with hsb.Following(path, every=None, seed=0) as following:
        for k in range(20):
            arms = {f"a{j}": {"price": (k + j) % 5} for j in range(3)}
            decision = following.decide({"age": k}, arms=arms)
            learning.learn(hsb.Decision.from_dict(json.loads(json.dumps(decision.to_dict()))), reward=1.0)
            learning.save(path)
            assert following.refresh() and following.rounds == k + 1
        assert following.probabilities({"age": 1}, arms=arms).tolist() == learning.probabilities({"age": 1}, arms=arms).tolist()


def test_it_refuses_to_learn(following: hsb.Following) -> None:
    with pytest.raises(hsb.InputError, match=r"only decides\. Send decision\.to_dict"):
        following.policy.learn(following.decide(), reward=1.0)
    with pytest.raises(hsb.InputError, match="only decides"):
        following.policy.learn(hsb.Decision(context=None, arm="a", propensity=0.5), reward=1.0)
    assert following.rounds == 0 and not hasattr(following, "learn")


@pytest.mark.parametrize("every", [0, -1.0, "1", True, float("nan"), float("inf")])
def test_wrong_arguments(path: Path, every: Any) -> None:
    with pytest.raises(hsb.InputError, match="every must be the seconds between"):
        hsb.Following(path, every=every)


def test_no_policy_at_the_beginning(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        hsb.Following(tmp_path / "none.hsb")
    (tmp_path / "text.hsb").write_text("something else")
    with pytest.raises(hsb.FileError):
        hsb.Following(tmp_path / "text.hsb")


def test_deleted_damaged_and_whole_again(path: Path, following: hsb.Following, caplog: pytest.LogCaptureFixture) -> None:
    whole = path.read_bytes()
    for wrong in (None, b"", whole[:100], whole[: len(whole) // 2] + b"x" + whole[len(whole) // 2 + 1 :]):
        path.write_bytes(whole)
        following.refresh()
        assert following.error is None
        path.unlink()
        if wrong is not None:
            path.write_bytes(wrong)
        caplog.clear()
        for _ in range(3):
            assert not following.refresh()
            assert following.decide().arm in "ab" and following.error in caplog.text and "policy.hsb" in str(following.error)
        assert len(caplog.records) == 1 and "continues to decide" in caplog.text  # said once
        assert "error=" in repr(following)
    saved(path, rounds=5)
    assert following.refresh() and following.error is None and following.rounds == 5
    path.unlink()
    path.mkdir()
    assert not following.refresh() and "is a folder" in str(following.error) and following.rounds == 5


def test_symbolic_links_are_followed_anew(tmp_path: Path) -> None:
    saved(tmp_path / "one.hsb", rounds=1)
    saved(tmp_path / "two.hsb", rounds=2)
    (tmp_path / "link.hsb").symlink_to("one.hsb")
    with hsb.Following(tmp_path / "link.hsb", every=None) as following:
        (tmp_path / "new.hsb").symlink_to("two.hsb")
        (tmp_path / "new.hsb").replace(tmp_path / "link.hsb")
        assert following.rounds == 1 and following.refresh() and following.rounds == 2
        saved(tmp_path / "two.hsb", rounds=3)  # the file behind the link
        assert following.refresh() and following.rounds == 3
        (tmp_path / "two.hsb").unlink()
        assert not following.refresh() and following.error is not None and following.rounds == 3


class Slow(hsb.Policy):
    """Its loads wait for an event."""

    loading, go = threading.Event(), threading.Event()

    def settings(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> "Slow":
        cls.loading.set()
        assert cls.go.wait(LIMIT)
        return cls(**common)

    def distribution(self, context: Any) -> Any:
        return np.full(len(self.arms), 1.0 / len(self.arms))

    def update(self, context: Any, index: int, loss: float, propensity: float) -> None:
        pass


def test_decisions_never_wait_for_a_load(tmp_path: Path) -> None:
    learner, path, result = Slow(arms=2, seed=0), tmp_path / "slow.hsb", list[hsb.Decision]()
    learner.save(path)
    Slow.go.set()
    with hsb.Following(path, every=0.001) as following:
        Slow.loading.clear()
        Slow.go.clear()
        learner.learn(learner.decide(), reward=1.0)
        learner.save(path)
        assert Slow.loading.wait(LIMIT)  # the load has begun, and ends only when we say so
        work = threading.Thread(target=lambda: result.extend(following.decide() for _ in range(100)), daemon=True)
        work.start()
        work.join(LIMIT)
        assert len(result) == 100 and following.rounds == 0 and following.loads == 1
        Slow.go.set()
        wait_until(lambda: following.loads == 2)
        assert following.rounds == 1 and following.decide().number == 100


def test_threads_decide_while_the_file_changes(path: Path, following: hsb.Following) -> None:
    result: list[list[hsb.Decision]] = [[] for _ in range(4)]
    over = threading.Event()

    def work(k: int) -> None:
        while not over.is_set() and len(result[k]) < 20_000:
            result[k].append(following.decide())

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for rounds in range(60):
        saved(path, rounds)
        assert following.refresh()
    wait_until(lambda: all(result))
    over.set()
    for thread in threads:
        thread.join()
    numbers = sorted(each.number for some in result for each in some)  # type: ignore[type-var]
    assert numbers == list(range(len(numbers)))
    assert len({each.memo.rounds for some in result for each in some}) > 1


def test_a_thread_looks_and_ends_with_what_it_looks_for(path: Path) -> None:
    following = hsb.Following(path, every=0.001)
    thread = following._thread
    assert thread is not None and thread.daemon
    saved(path, rounds=7)
    wait_until(lambda: following.rounds == 7)
    following.close()
    saved(path, rounds=8)
    assert not thread.is_alive() and following.decide().memo.rounds == 7
    other = hsb.Following(path, every=0.001)
    thread = other._thread
    assert thread is not None and thread.is_alive()
    del other
    gc.collect()
    thread.join(LIMIT)
    assert not thread.is_alive()


@forks
def test_a_forked_child_follows_too_in_a_stream_of_its_own(path: Path) -> None:
    with hsb.Following(path, every=0.001) as following:
        first = following.decide()

        def work() -> list[Any]:
            results = [following.decide().to_dict()["id"] for _ in range(20)]
            saved(path, rounds=4)
            wait_until(lambda: following.rounds == 4)
            return [*results, *(following.decide().to_dict()["id"] for _ in range(20))]

        ids = [first.id, *in_child(work), *in_child(work), *(following.decide().id for _ in range(20))]
        assert len(set(ids)) == 101 and len({name.rsplit("-", 1)[0] for name in ids}) == 3
        wait_until(lambda: following.rounds == 4)  # the parent's thread goes on looking


WORKER = """
import json, sys, time
import hsb

following = hsb.Following("policy.hsb", every=0.002)
count = 0
while following.loads < 25:
    visitor = {"device": ["phone", "desk"][count % 2]}
    decision = following.decide(visitor)
    print(json.dumps({"decision": decision.to_dict(), "reward": float((decision.arm == "a") == (count % 2 == 0))}), flush=True)
    count += 1
    time.sleep(0.001)
"""


@pytest.mark.parametrize("lives", [1, 2], ids=["the learner lives on", "the learner starts again from its file"])
def test_real_workers_and_a_queue_that_delivers_twice(tmp_path: Path, lives: int) -> None:
    path = tmp_path / "policy.hsb"
    learner: hsb.Policy = hsb.HSB(arms=["a", "b"], seed=0)
    learner.save(path)
    (tmp_path / "worker.py").write_text(WORKER)
    how: Any = {"stdout": subprocess.PIPE, "text": True, "cwd": tmp_path}
    workers = [subprocess.Popen([sys.executable, "worker.py"], **how) for _ in range(3)]
    lines: list[str] = []
    readers = [threading.Thread(target=lambda pipe=each.stdout: lines.extend(pipe), daemon=True) for each in workers]
    for reader in readers:
        reader.start()
    taken = refused = 0
    while any(reader.is_alive() for reader in readers) or taken < len(lines):
        for line in lines[taken:]:
            message = json.loads(line)
            for _ in range(2):
                rounds = learner.rounds
                try:
                    learner.learn(hsb.Decision.from_dict(message["decision"]), reward=message["reward"])
                except hsb.InputError:
                    refused += learner.rounds == rounds
            taken += 1
        learner.save(path)
        learner = learner if lives == 1 else hsb.load(path)
        time.sleep(0.005)
    for each in workers:
        assert each.wait(LIMIT) == 0 and each.stdout is not None
        each.stdout.close()
    ids = [json.loads(line)["decision"]["id"] for line in lines]
    assert len(set(ids)) == len(ids) == learner.rounds == refused == taken > 0
    assert len({name.rsplit("-", 1)[0] for name in ids}) == len(learner.ledger.elsewhere.lineages) == 3
    late = hsb.load(path)
    for line in lines[:: max(1, len(lines) // 50)]:  # much later, by another process
        with pytest.raises(hsb.InputError, match="already"):
            late.learn(hsb.Decision.from_dict(json.loads(line)["decision"]), reward=1.0)
    assert late.rounds == len(ids)
