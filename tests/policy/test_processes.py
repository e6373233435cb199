"""Copies, other processes, queues: decisions are drawn anew and learned once."""

import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.children import forks, in_child
from support.policies import POLICIES, each_policy, play
from support.waiting import LIMIT

import hsb


@forks
def test_forked_workers_draw_anew_and_their_decisions_do_not_collide() -> None:
    policy = hsb.HSB(hsb.BinaryTree(depth=3), arms=50, learning_rate=0.1, seed=0)
    early = policy.decide(0.3)

    def work() -> list[Any]:
        policy.learn(early, loss=1.0)  # made before the fork: still its own
        return [policy.decide(0.3).to_dict() for _ in range(40)]

    results = [in_child(work) for _ in range(3)] + [[policy.decide(0.3).to_dict() for _ in range(40)]]
    arms = [[each["arm"] for each in some] for some in results]
    assert all(arms[i] != arms[j] for i in range(4) for j in range(i))
    assert len({each["id"] for some in results for each in some}) == 160
    for some in results:
        for each in some:
            policy.learn(hsb.Decision.from_dict(each), loss=0.5)
            with pytest.raises(hsb.InputError, match="already"):
                policy.learn(hsb.Decision.from_dict(each), loss=0.5)
    assert policy.rounds == 160
    policy.learn(early, loss=1.0)


@forks
def test_a_policy_that_another_thread_is_changing_is_refused_in_the_child() -> None:
    policy, held, over = hsb.Uniform(arms=2, seed=0), threading.Event(), threading.Event()

    def hold() -> None:
        with policy.lock:
            held.set()
            over.wait(LIMIT)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(LIMIT)

    def work() -> str:
        try:
            policy.decide(None)
        except hsb.InputError as error:
            return str(error)
        return ""

    try:
        assert "forked" in in_child(work)
    finally:
        over.set()
        thread.join()
    assert policy.decide(None).number == 0  # here it goes on


def test_a_file_is_loaded_with_its_random_numbers_or_with_others(tmp_path: Path) -> None:
    path = tmp_path / "policy.hsb"
    hsb.Uniform(arms=1000, seed=0).save(path)

    def drawn(**given: Any) -> list[Any]:
        policy = hsb.load(path, **given)
        return [policy.decide(None).arm for _ in range(20)]

    assert drawn() == drawn()
    assert drawn(seed=1) == drawn(seed=1) != drawn()
    assert drawn(seed=None) != drawn(seed=None)
    assert drawn(seed=np.random.default_rng(1)) == drawn(seed=np.random.default_rng(1))
    with pytest.raises(hsb.InputError, match="seed must be"):
        hsb.load(path, seed="x")  # type: ignore[arg-type]


@each_policy
def test_a_queue_that_delivers_twice(name: str, tmp_path: Path) -> None:
    worker, learner = POLICIES[name](), POLICIES[name]()
    sent = [pickle.dumps(worker.decide(0.3)) for _ in range(3)]
    for each in sent:
        learner.learn(pickle.loads(each), loss=0.5)
    again = [learner, learner.copy(), pickle.loads(pickle.dumps(learner))]
    if not name.startswith("Exp4"):
        learner.save(tmp_path / "learner.hsb")
        again.append(hsb.load(tmp_path / "learner.hsb"))
    for policy in again:
        digest = policy.digest()
        for each in sent:
            with pytest.raises(hsb.InputError, match="already"):
                policy.learn(pickle.loads(each), loss=0.5)
            with pytest.raises(hsb.InputError, match="already"):
                policy.learn_many([pickle.loads(each)], losses=[0.5])
        assert policy.digest() == digest
    new = pickle.dumps(worker.decide(0.3))
    with pytest.raises(hsb.InputError, match="row 0 already"):
        learner.learn_many([pickle.loads(new) for _ in range(2)], losses=[0.5, 0.5])


@each_policy
def test_memory_mapped_pickles_work(name: str, tmp_path: Path) -> None:
    joblib = pytest.importorskip("joblib")
    policy, path = POLICIES[name](), tmp_path / "policy.joblib"
    play(policy, slice(0, 40))
    joblib.dump(policy, path)
    mapped = joblib.load(path, mmap_mode="r")
    assert mapped.digest() == policy.digest()
    play(mapped, slice(40, 80))
    play(policy, slice(40, 80))
    assert mapped.digest() == policy.digest()


@each_policy
def test_a_shallow_copy_is_a_copy(name: str) -> None:
    import copy

    policy = POLICIES[name]()
    play(policy, slice(0, 20))
    digest, shallow = policy.digest(), copy.copy(policy)
    play(shallow, slice(20, 40))
    assert policy.digest() == digest and policy.rounds == 20 and shallow.rounds == 40
    assert shallow.lock is not policy.lock
