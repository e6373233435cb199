"""One policy, several threads: what `tests/support/attack/threads.py` does for long, for a moment."""

import threading

import numpy as np
import pytest
from support.attack import threads

import hsb
from hsb.policy.copying import adopt


@pytest.mark.parametrize("kind", ["HSB", "features"])
@pytest.mark.parametrize("storm", threads.STORMS)
def test_a_storm(storm: str, kind: str) -> None:
    result = threads.run(storm, kind, 0.3)
    assert result.get("wrong") == 0 and not result["raised"] and result["decisions"] > 0, result


def test_a_storm_without_the_lock_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: the same checks, a policy whose lock holds nobody back."""

    class Open:
        def acquire(self, timeout: float = -1) -> bool:  # of a fork while the policy is still there
            return True

        def release(self) -> None:
            pass

        def __enter__(self) -> None:
            pass

        def __exit__(self, *_: object) -> None:
            pass

    import sys

    def unlocked() -> hsb.Policy:
        policy = threads.Own(arms=3, floor=0.1, seed=0)
        policy.lock = Open()  # type: ignore[assignment]
        return policy

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        result = (threads.frozen(unlocked, 0.3) for _ in range(100))  # the first is enough, unless the machine is busy
        assert any(each["wrong"] > 0 or each["raised"] for each in result)
    finally:
        sys.setswitchinterval(before)


def test_one_decision_counts_once() -> None:
    """Several threads learn one decision at the same moment."""
    threads.once(200)


def test_a_callback_may_call_the_policy() -> None:
    policy, seen = hsb.HSB(hsb.BinaryTree(depth=3), arms=2, learning_rate=0.1, seed=0), []
    contexts, losses = np.random.default_rng(0).random(40_000), np.zeros((40_000, 2))
    hsb.simulate(policy, contexts, losses, progress=lambda done, total: seen.append(policy.decide(0.3).memo.rounds))
    assert seen == [16_384, 32_768, 40_000]
    with pytest.raises(hsb.InputError, match="The table has 2 arms, the policy now 3"):
        hsb.simulate(policy, contexts, losses, progress=lambda done, total: policy.add_arm(done))
    assert policy.rounds == 40_000 + 16_384
    policy.decide(0.3)


def test_two_policies_that_take_over_each_other_do_not_wait_for_each_other() -> None:
    one, other = (hsb.Exp3(arms=2, learning_rate=0.1, seed=k) for k in range(2))

    def work(mine: hsb.Policy, theirs: hsb.Policy) -> None:
        for _ in range(200):
            adopt(mine, theirs.copy())

    running = [threading.Thread(target=work, args=pair, daemon=True) for pair in ((one, other), (other, one))]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join(60)
    assert not any(thread.is_alive() for thread in running)
