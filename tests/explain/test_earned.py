"""What each rule earns, by a log: against a naive count, and against the truth, which intervals must hold."""

import numpy as np
import pytest

import hsb
from hsb.explain.earned import Earned
from hsb.logs import Batch

ARMS = ["a", "b", "c"]


def probabilities(x: np.ndarray, shop: np.ndarray) -> np.ndarray:
    """How often each arm is bought."""
    return np.column_stack([0.2 + 0.5 * (x < 40), 0.3 + 0.4 * (shop == "north") * (x >= 40), np.full(len(x), 0.25)])


def table(rows: int, seed: int) -> dict[str, np.ndarray]:
    """A log of a logger that prefers one arm, by the context."""
    rng = np.random.default_rng(seed)
    x, shop = rng.integers(18, 70, rows).astype(float), rng.choice(["north", "south"], rows)
    p = np.where((x < 30)[:, None], [0.1, 0.3, 0.6], [0.5, 0.45, 0.05])
    arm = (rng.random(rows)[:, None] > np.cumsum(p, axis=1)).sum(axis=1).clip(0, 2)
    reward = (rng.random(rows) < probabilities(x, shop)[np.arange(rows), arm]).astype(float)
    return {"age": x, "shop": shop, "shown": np.array(ARMS)[arm], "p": p[np.arange(rows), arm], "click": reward}


def opened(columns: dict[str, np.ndarray]) -> hsb.logs.Log:
    return hsb.logs.open(columns, context=["age", "shop"], arm="shown", propensity="p", reward="click")


@pytest.fixture(scope="module")
def policy() -> hsb.HSB:
    result = hsb.HSB(arms=ARMS, seed=0)
    hsb.learn_from(result, opened(table(6000, 0)))
    return result


def test_it_equals_a_naive_count(policy: hsb.HSB) -> None:
    columns = table(4000, 1)
    explanation = policy.explain(log=opened(columns))
    assert [region.where for region in explanation.rules] == [region.where for region in policy.explain().rules]
    people = [{"age": float(age), "shop": str(shop)} for age, shop in zip(columns["age"], columns["shop"], strict=True)]
    for region in explanation:
        here = [explanation.region_at(each) is region for each in people]
        weights = [
            1.0 / p if at and arm == region.arm else 0.0
            for at, arm, p in zip(here, columns["shown"], columns["p"], strict=True)
        ]
        earned = region.earned
        assert earned is not None and earned.rows == sum(here)
        assert earned.value == pytest.approx(np.average(columns["click"], weights=weights))
        assert earned.low <= earned.value <= earned.high and (earned.rows < 1000 or earned.high - earned.low < 0.3)
        assert f", {earned}" in str(explanation) and region.to_dict()["earned"]["rows"] == earned.rows
    assert "earns there" in explanation._repr_html_() and "earns" not in str(policy.explain())
    assert "earns there" not in policy.explain()._repr_html_()


def test_the_intervals_hold(policy: hsb.HSB) -> None:
    """200 logs, each rule's truth known: at most 5 % misses; the control, an interval five times as narrow, misses more."""
    rules = policy.explain()
    many = table(200_000, 99)
    held = narrow = judged = 0
    codes = rules.columns[[column.name for column in rules.columns].index("shop")].labels
    where = rules.find(coded_rows(rules, many, codes))
    truth = [
        probabilities(many["age"], many["shop"])[where == k][:, ARMS.index(region.arm)].mean() for k, region in enumerate(rules)
    ]
    for seed in range(200):
        result = with_log(policy, rules, table(600, 1000 + seed))
        for earned, true in zip(result, truth, strict=True):
            if earned is None:
                continue
            judged += 1
            held += earned.low <= true <= earned.high
            narrow += abs(earned.value - true) <= (earned.high - earned.low) / 10
    assert judged > 400 and held >= 0.95 * judged > narrow


def coded_rows(rules: hsb.explain.Explanation, columns: dict[str, np.ndarray], labels: tuple[str, ...]) -> np.ndarray:
    by_name = {"age": columns["age"], "shop": np.array([labels.index(each) for each in columns["shop"]], dtype=float)}
    return np.column_stack([by_name[column.name] for column in rules.columns])


def with_log(policy: hsb.HSB, rules: hsb.explain.Explanation, columns: dict[str, np.ndarray]) -> list[Earned | None]:
    from hsb.evaluate.off_policy.by_rule import with_earnings

    return [region.earned for region in with_earnings(rules, policy, opened(columns))]


def test_where_there_are_no_data_nothing_is_said(policy: hsb.HSB) -> None:
    columns = table(500, 3)
    some = {name: values[(columns["shown"] != "a") & (columns["age"] < 30)] for name, values in columns.items()}
    explanation = policy.explain(log=opened(some))
    assert all(region.earned is None for region in explanation if region.arm == "a" or region.where.startswith("age >= 4"))
    lines = str(explanation).splitlines()[: len(explanation)]
    assert ["earns" in line for line in lines] == [region.earned is not None for region in explanation.rules]
    assert not all("earns" in line for line in lines)


def test_a_structure_arms_not_available_and_batches() -> None:
    policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b"], seed=0, reward_range=(0, 10))
    for t in range(2000):
        decision = policy.decide(x := t % 100 / 100)
        policy.learn(decision, reward=8.0 * ((decision.arm == "a") == (x < 0.5)))
    rng = np.random.default_rng(0)
    x = rng.random(900)
    available = np.column_stack([np.ones(900, dtype=bool), rng.random(900) < 0.5])
    arm = np.where(available[:, 1], rng.integers(0, 2, 900), 0)
    batch = Batch.of(
        contexts=x[:, None],
        arm=arm,
        reward=8.0 * ((arm == 0) == (x < 0.5)),
        propensity=np.where(available[:, 1], 0.5, 1.0),
        arms=["a", "b"],
        available=available,
    )
    explanation = policy.explain(log=[batch])
    left, right = explanation.rules
    assert left.earned is not None and right.earned is not None
    assert left.earned.value == pytest.approx(8.0) == right.earned.value and right.earned.low > 6.0
    assert left.earned.rows == (x < 0.5).sum() and right.earned.rows == (available[:, 1] & (x >= 0.5)).sum()


def test_wrong_logs(policy: hsb.HSB) -> None:
    with pytest.raises(hsb.InputError):
        policy.explain(log=3)  # type: ignore[arg-type]
    with pytest.raises(hsb.InputError, match="only once"):
        policy.explain(log=iter([]))
    wide = table(50, 0)
    wide["click"] = wide["click"] * 7
    with pytest.raises(hsb.InputError, match="outside"):
        policy.explain(log=opened(wide))
    blank = hsb.HSB(arms=ARMS, loss_range="auto", seed=0)
    blank.learn(blank.decide({"age": 30.0, "shop": "north"}), reward=1.0)
    with pytest.raises(hsb.InputError, match="range of the policy's rewards is not known"):
        blank.explain(log=opened(table(50, 0)))
