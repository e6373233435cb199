"""Fixtures of the tests of off-policy evaluation."""

import numpy as np
import pytest
from support.off_policy_cases import means, trained
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def now():
    return trained("clicks")


@pytest.fixture(scope="module")
def near(now):
    """The same after forty more updates."""
    policy, rng = now.copy(), np.random.default_rng(1)
    for _ in range(40):
        decision = policy.decide(rng.random())
        policy.learn(decision, reward=float(rng.random() < means("clicks", np.array([decision.context]))[0, decision.arm]))
    return policy
