"""The Open Bandit Pipeline's dictionary, and batches from decisions."""

import numpy as np
import pytest

import hsb
import hsb.logs

pytest.importorskip("pyarrow")


def rows_of(batches):
    rows = []
    for batch in batches:
        for i in range(len(batch)):
            available = frozenset(batch.arms[k] for k in batch.pools[batch.pool[i]])
            numbers = (batch.reward[i], batch.propensity[i], str(batch.timestamp[i]))
            rows.append((batch.contexts[i].tobytes(), batch.arms[batch.arm[i]], *numbers, available))
    return rows


def test_obp():
    rng = np.random.default_rng(0)
    n, m = 200, 4
    feedback = {
        "n_rounds": n,
        "n_actions": m,
        "context": rng.normal(size=(n, 3)),
        "action_context": np.eye(m),
        "action": rng.integers(0, m, n),
        "position": None,
        "reward": rng.random(n),
        "expected_reward": None,
        "pi_b": None,
        "pscore": rng.uniform(0.1, 1, n),
    }
    log = hsb.logs.from_obp(feedback, rows=64)
    back = hsb.logs.to_obp(log)
    for name in ("context", "action", "reward", "pscore", "action_context"):
        assert np.array_equal(back[name], feedback[name])
    assert set(back) == set(feedback)
    assert back["pi_b"] is None
    bad = feedback | {"pscore": feedback["pscore"].copy(), "action": feedback["action"].copy()}
    bad["pscore"][[3, 4]] = 0.0, np.nan
    bad["action"][5] = m
    log = hsb.logs.from_obp(bad)
    assert (log.count(), len(log.problems)) == (n - 3, 3)
    table = rng.dirichlet(np.ones(m), n)[:, :, None]
    chosen = hsb.logs.from_obp({**feedback, "pscore": None, "pi_b": table})
    assert np.array_equal(next(iter(chosen)).propensity, table[np.arange(n), feedback["action"], 0])
    uniform = hsb.logs.to_obp(hsb.logs.from_obp(feedback | {"pscore": np.full(n, 1 / m)}))
    assert uniform["pi_b"].shape == (n, m, 1)
    for make, what in (
        (lambda: hsb.logs.from_obp({"context": 1}), "no column 'n_actions'"),
        (lambda: hsb.logs.from_obp([]), "dictionary"),
        (lambda: hsb.logs.from_obp(feedback | {"pscore": None}), "pi_b"),
        (lambda: hsb.logs.from_obp(feedback | {"context": np.zeros(n)}), "shape"),
        (lambda: hsb.logs.to_obp(hsb.logs.SyntheticToday(10_000)), "available"),
        (lambda: hsb.logs.to_obp([]), "no row"),
    ):
        with pytest.raises(hsb.InputError, match=what):
            make()


def test_decisions_to_files(tmp_path):
    policy = hsb.HSB(hsb.BinaryTree(depth=3), arms=["a", "b", "c"], seed=0)
    decisions = [policy.decide(x, available=["a", "b"] if x > 0.5 else None) for x in np.linspace(0, 1, 20)]
    rewards = np.linspace(0, 1, 20).tolist()
    batch = hsb.logs.from_decisions(decisions, rewards, arms=policy.arms)
    assert batch.labels().tolist() == [decision.arm for decision in decisions]
    assert batch.available.sum(axis=1).tolist() == [3] * 10 + [2] * 10
    for format in ("parquet", "dsjson"):
        hsb.logs.write(tmp_path / f"log.{format}", [batch], format)
        assert rows_of(hsb.logs.open(tmp_path / f"log.{format}")) == rows_of([batch])
    with pytest.raises(hsb.InputError, match="not one of arms"):
        hsb.logs.from_decisions(decisions, rewards, arms=["a"])
    with pytest.raises(hsb.InputError, match="one number for each decision"):
        hsb.logs.from_decisions(decisions, [1.0], arms=policy.arms)
