"""A simulation of pages is its pages one by one."""

from typing import Any

import numpy as np
import pytest

import hsb

ARMS = ["a", "b", "c"]
ROWS = 40
RNG = np.random.default_rng(0)
CONTEXTS = [{"age": int(RNG.integers(18, 60)), "device": ("web", "ios")[t % 2]} for t in range(ROWS)]
BY_ARM = RNG.random((ROWS, 3))
BY_SLOT = RNG.random((ROWS, 2, 3))


def by_function(t: int, shown: tuple[Any, ...]) -> list[float | None]:
    return [None if arm == "c" else float(arm == "a") for arm in shown]


@pytest.mark.parametrize("slots", [1, 2])
@pytest.mark.parametrize("of_page", [BY_ARM, BY_SLOT, by_function], ids=["by arm", "by slot", "function"])
@pytest.mark.parametrize("name", ["losses", "rewards"])
def test_it_is_its_pages_one_by_one(slots: int, of_page: Any, name: str) -> None:
    run_policy, policy = (hsb.HSB(arms=ARMS, slots=slots, seed=0) for _ in range(2))
    run = hsb.simulate(run_policy, CONTEXTS, **{name: of_page}, slots=2)
    assert run.arms.shape == run.losses.shape == run.propensities.shape == (ROWS, 2) and len(run) == ROWS
    total = []
    for t, context in enumerate(CONTEXTS):
        page = policy.decide(context, k=2)
        values: list[float | None]
        if callable(of_page):
            values = of_page(t, page.arms)
        elif of_page.ndim == 2:
            values = [float(of_page[t, ARMS.index(str(arm))]) for arm in page.arms]
        else:
            values = [float(of_page[t, slot, ARMS.index(str(arm))]) for slot, arm in enumerate(page.arms)]
        policy.learn(page, **{name: values})  # type: ignore[arg-type]
        assert tuple(run.arms[t]) == page.arms and tuple(run.propensities[t]) == page.propensities
        losses = [np.nan if value is None else value if name == "losses" else 1.0 - value for value in values]
        assert np.array_equal(run.losses[t], losses, equal_nan=True)
        total += [loss for loss in losses if loss == loss]
    assert run_policy.digest() == policy.digest()
    assert run.average_loss == pytest.approx(np.mean(total))


def test_contexts_of_a_structure_and_available_arms() -> None:
    policy = hsb.HSB(hsb.BinaryTree(depth=3), arms=4, slots=2, seed=0)
    masks = RNG.random((ROWS, 4)) < 0.5
    masks[:, :2] = True
    run = hsb.simulate(
        policy, RNG.random(ROWS), RNG.random((ROWS, 4)), available=masks, slots=2, progress=lambda done, total: None
    )
    assert run.arms.dtype.kind == "i" and (run.arms[:, 0] != run.arms[:, 1]).all()
    assert masks[np.arange(ROWS)[:, None], run.arms].all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"slots": 0, "losses": BY_ARM}, "slots must be a whole number"),
        ({"slots": 4, "losses": BY_ARM}, "slots must be a whole number"),
        ({"slots": 2}, "needs losses or rewards"),
        ({"slots": 2, "losses": BY_ARM[:5]}, "needs shape"),
        ({"slots": 2, "losses": BY_SLOT[:, :1]}, r"needs shape \(40, 3\), or \(40, 2, 3\)"),
        ({"slots": 2, "losses": BY_SLOT * 3}, r"losses\[0, "),
        ({"losses": by_function}, "only with slots="),
        (
            {"slots": 2, "losses": BY_ARM, "available": np.eye(3, dtype=bool)[np.arange(ROWS) % 3]},
            r"available\[0\] has fewer arms",
        ),
    ],
)
def test_wrong_arguments_change_nothing(arguments: dict[str, Any], message: str) -> None:
    policy = hsb.HSB(arms=ARMS, slots=2, seed=0) if "slots" in arguments else hsb.HSB(arms=ARMS, seed=0)
    before = policy.digest(), policy.ledger.issued, policy.rng.bit_generator.state
    with pytest.raises(hsb.InputError, match=message):
        hsb.simulate(policy, CONTEXTS, **arguments)
    assert (policy.digest(), policy.ledger.issued, policy.rng.bit_generator.state) == before
