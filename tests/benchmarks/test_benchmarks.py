"""The benchmarks still run, at a size that measures nothing; and `make tuning` plays the worlds that docs/tuning.md speaks of."""

import against
import default
import growth
import measures
import pytest
import tables
import timing

import hsb

pytestmark = pytest.mark.long

LOSSES = {  # average over arms and 1000 rounds of the first seed, by name of the case
    "VI-A, depth 10": 0.536333333,
    "VI-A, depth 20": 0.536333333,
    "VI-B, depth 10": 0.549333333,
    "VI-B, depth 20": 0.549333333,
    "smooth, 2 arms": 0.4885,
    "smooth, 10 arms": 0.5507,
    "smooth, 50 arms": 0.48782,
    "piecewise, 3 arms": 0.424666667,
    "piecewise, 10 arms": 0.4759,
    "piecewise, 50 arms": 0.49082,
    "two features": 0.502,
    "not binary": 0.517909232,
    "losses near 1, 10 arms": 0.9466,
    "clicks, 25 arms": 0.957,
    "contexts in order": 0.552,
    "slow drift": 0.498333333,
    "ten changes": 0.547666667,
    "local change": 0.539333333,
    "silent improvement": 0.403,
}


def test_the_worlds_of_tuning_are_the_same_as_ever():
    for case in default.CASES:
        sample = case.problem.sample(1000, default.FIRST_SEED, new_model=True)
        assert sample.losses.mean() == pytest.approx(LOSSES[case.name], abs=1e-8), case.name
    assert len(default.CASES) == len(LOSSES)


def test_tuning_compares():
    effort = default.Effort(rounds=200, seeds=2, adversary_seeds=1)
    case = next(case for case in default.CASES if case.name == "two features")
    losses = default.compare(case, effort)
    assert set(losses) == {*default.POLICIES, default.BEST} and all(len(each) == 2 for each in losses.values())
    assert default.losses_table({case.name: losses}).count("\n") == 2 and default.excess_table({case.name: losses})


def test_adversaries_of_tuning_see_the_advice():
    """Against spite the advice loses every round."""
    [fight] = default.fight("spite", default.ADVERSARIES["spite"], default.Effort(rounds=200, seeds=1, adversary_seeds=1))
    assert (
        fight.advice > 0.99 and fight.hindsight < fight.alone < fight.default < 1.0
    )  # before the first loss the advice is spread


def test_what_is_timed_runs():
    assert set(measures.WORLDS) == {"VI-A losses", "a loss every round"}
    world = timing.noise(50, arms=2, features=2)
    assert (world.losses > 0.0).all() and world.contexts.shape == (50, 2)
    tree = hsb.BinaryTree(depth=3, space=hsb.Box.unit(2))
    assert timing.simulate_ns(lambda: timing.policy(tree, 2, 0.1), world) > 0.0
    first, again = (timing.policy(tree, 2, 0.1, seed=4).decide([0.1, 0.2], u=u) for u in (None, timing.generator(4).random()))
    assert (first.arm, first.propensity) == (again.arm, again.propensity)
    assert all(sweep.sizes for sweep in growth.sweeps(True))


def test_the_table_that_is_timed():
    """Twenty columns of four kinds, some with missing values; read and learned."""
    pytest.importorskip("pyarrow")
    outcome = tables.columns(1000, seed=0)
    log = hsb.logs.open(outcome, **tables.PARTS)
    kinds = list(log.kinds().known.values())
    assert (len(kinds), kinds.count("number"), kinds.count("category"), kinds.count("flag")) == (20, 12, 5, 3)
    assert log.by_name().count() == 1000 and sum(column.null_count > 0 for column in list(outcome.values())[:20]) == 7
    result = tables.run(500)
    assert result["columns"] > 30 and result["read"] > 0 and result["train"] > 0


def test_two_checkouts_are_compared_by_the_least_of_each():
    results = iter([(2.0, "us"), (1.5, "us"), (1.0, "us"), (3.0, "us")])
    row = against.in_turns("a row", [lambda name: next(results)] * 2, 2)
    assert row == ("a row", 1.0, 1.5, "us") and row.worse
    assert "**1.50**" in against.table([row])
    assert against.in_turns("skipped", [lambda name: (None, "us")] * 2, 2) is None
