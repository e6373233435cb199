"""What is played, in rules: right on fresh contexts, exact where cells are known, and readable."""

import json
import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import cuts as naive_cuts
from support.played_cases import BANNERS, VISITOR, Array, banners, by_rules, linear, softmax, taught_banners, visitors
from support.structure_cases import with_tree

import hsb
from hsb.explain import Explanation, Region
from hsb.explain.asking import edges_of, player
from hsb.explain.columns import LEAST, MISSING, NEW, Column, Part, coded, columns_of, inside
from hsb.explain.cuts import best_cut, threshold
from hsb.explain.joining import join, union
from hsb.explain.played import extract_rules
from hsb.explain.samplers import Everywhere, SimilarContexts

SIX = columns_of(hsb.Box.unit(6))


def agreement(explanation: Explanation, policy: hsb.HSB, contexts: Array) -> float:
    """How often the rule's arm is that of the largest probability, asked one by one."""
    most = [policy.arms[int(np.argmax(policy.probabilities(context)))] for context in contexts]
    return float(np.mean([a == b for a, b in zip(explanation.arms_at(contexts), most, strict=True)]))


def readme() -> hsb.HSB:
    policy = hsb.HSB(hsb.BinaryTree(depth=10), arms=["a", "b", "c"], seed=0)
    for t in range(2_000):
        context = (t * 0.618) % 1.0
        decision = policy.decide(context)
        policy.learn(decision, reward=float(decision.arm == ("a" if context < 0.5 else "c")))
    return policy


# -- right ---------------------------------------------------------------------------------------------------------------


def test_two_rules_where_two_are_true() -> None:
    policy = readme()
    explanation = policy.explain()
    assert (
        re.sub(r"0\.9\d|1\.00", "*", str(explanation))
        == "0 <= x < 0.5: play 'a' (probability *)\n0.5 <= x <= 1: play 'c' (probability *)"
    )
    assert explanation.agreement == 1.0 and [region.coverage for region in explanation] == [0.5, 0.5]
    fresh = np.random.default_rng(1).random(2000)
    assert agreement(explanation, policy, fresh) == 1.0
    for region in explanation:
        (low, high), i = region.bounds[0], policy.arms.index(region.arm)
        there = [policy.probabilities(x)[i] for x in np.linspace(low, high, 401)[:-1]]
        assert region.probability == pytest.approx(np.mean(there), abs=0.01)


@pytest.mark.parametrize("rounds", [5_000, 20_000])
def test_six_features(rounds: int) -> None:
    policy, other = taught_banners(rounds), taught_banners(rounds, arms=BANNERS[::-1])
    fresh = np.random.default_rng(7).random((2000, 6))
    explanation = policy.explain(rules=None)
    assert explanation.agreement == 1.0 and agreement(explanation, policy, fresh) == 1.0
    assert len(explanation) < 80
    grown = extract_rules(SIX, player(policy), policy.arms, rules=None)  # its cells not being known
    assert grown.agreement is not None and grown.agreement >= 0.98 and agreement(grown, policy, fresh) >= 0.98
    assert agreement(other.explain(), policy, fresh) < 0.6  # negative control: the rules of another policy
    assert sum(region.coverage for region in explanation) == pytest.approx(1.0)


@pytest.mark.parametrize("rounds", [5_000, 20_000])
@pytest.mark.long
def test_visitors_of_a_shop(rounds: int) -> None:
    """Five banners, six columns, ages and spends missing: an ensemble decides, which has no cells. Standard error 0.003."""
    fresh, _, _ = hsb.problems.Banners().sample(2000, seed=9)
    people = [dict(zip(fresh.dtype.names, visitor.item(), strict=True)) for visitor in fresh]
    visitors, losses, _ = hsb.problems.Banners().sample(rounds, seed=0)
    policy = hsb.HSB(arms=BANNERS, seed=0)
    hsb.simulate(policy, visitors, losses)
    explanation = policy.explain(rules=None, effort=100)
    assert explanation.agreement is not None and explanation.agreement >= 0.98
    assert agreement(explanation, policy, people) >= 0.98
    assert agreement(explanation, hsb.HSB(arms=BANNERS, seed=0), people) < 0.6  # negative control: one that knows nothing


@pytest.mark.long
def test_a_ensemble_over_a_box_is_told_where_contexts_come() -> None:
    """The shop's visitors as numbers, under a structure: right with `contexts`. Six smooth features all over a box it says less well."""

    def numbers(visitors: Any) -> Array:
        codes = [np.unique(visitors[name], return_inverse=True)[1] for name in ("country", "device")]
        known = [np.clip(np.nan_to_num(visitors[name], nan=0.0), 0.0, 200.0) for name in ("age", "spend")]
        return np.column_stack([*codes, *known, visitors["hour"], visitors["is_member"]]).astype(float)

    visitors, losses, _ = hsb.problems.Banners().sample(20_000, seed=0)
    box = hsb.Box([0] * 6, [6, 2, 90, 200, 23, 1])
    policy = hsb.HSB(hsb.BinaryTree(depth=12, space=box), arms=BANNERS, seed=0)
    hsb.simulate(policy, numbers(visitors), losses)
    some, fresh = (numbers(hsb.problems.Banners().sample(2000, seed=seed)[0]) for seed in (10, 9))
    assert agreement(policy.explain(contexts=some, rules=None, effort=100), policy, fresh) >= 0.98
    assert agreement(policy.explain(contexts=some, rules=2), policy, fresh) < 0.95  # negative control: too few rules


def test_contexts_as_they_come() -> None:
    """Shares, importance and agreement are those of the contexts given: here a corner of the space."""
    policy = taught_banners(5_000)
    corner = np.random.default_rng(3).random((600, 6)) * [0.25, 1, 1, 1, 1, 1]
    explanation = policy.explain(contexts=corner, rules=None)
    fresh = np.random.default_rng(4).random((1000, 6)) * [0.25, 1, 1, 1, 1, 1]
    assert agreement(explanation, policy, fresh) >= 0.98
    assert explanation.importance["x0"] < 0.01 < policy.explain().importance["x0"]
    assert sum(region.coverage for region in explanation if region.bounds[0] == (0.0, 0.25)) > 0.2  # type: ignore[comparison-overlap]
    with pytest.raises(hsb.InputError, match="outside"):
        policy.explain(contexts=corner - 1.0)


@pytest.mark.parametrize("features", [1, 2])
def test_no_cells_at_all(features: int) -> None:
    """Scores linear in the features: nothing that boxes can say exactly."""
    weights = np.random.default_rng(1).normal(size=(4, features))
    play = linear(weights)
    result = extract_rules(columns_of(hsb.Box.unit(features)), play, list("abcd"), rules=None)  # type: ignore[arg-type]
    fresh = np.random.default_rng(2).random((4000, features))
    right = np.array(list("abcd"))[play(fresh).argmax(axis=1)]  # type: ignore[operator]
    assert np.mean(np.array(result.arms_at(fresh)) == right) >= 0.98
    assert result.agreement == pytest.approx(np.mean(np.array(result.arms_at(fresh)) == right), abs=0.01)


def test_mixed_columns() -> None:
    sample, fresh = visitors(512, 1), visitors(4000, 2)
    result = extract_rules(VISITOR, by_rules, list("abcd"), sample=sample, rules=None)
    right = np.array(list("abcd"))[by_rules(fresh).argmax(axis=1)]
    assert np.mean(np.array(result.arms_at(fresh)) == right) >= 0.98
    assert np.mean(np.array(result.arms_at(fresh)) == np.roll(right, 1)) < 0.7  # negative control
    text = str(result)
    assert re.search(r"^country in FR, DE.* hour >= 18.*: play 'a'", text, re.M)
    assert "device is mobile" in text and "member is true" in text
    assert result.importance["spend"] < 0.01 < 0.1 < result.importance["member"]
    assert "spend" not in text
    json.dumps(result.to_dict())


def test_contexts_are_read() -> None:
    """Users' contexts are dicts; `read` makes rows of them."""

    def read(context: dict[str, float | None]) -> list[float]:
        age = context.get("age")
        return [float("nan") if age is None else age, float(bool(context.get("member")))]

    columns = (Column("age", missing=True), Column("member", "flag"))
    rng = np.random.default_rng(0)
    sample = np.column_stack([np.where(rng.random(400) < 0.3, np.nan, rng.uniform(18, 80, 400)), rng.random(400) < 0.5])

    def play(rows: Array) -> Array:
        return np.where(
            np.isnan(rows[:, :1]), [[1.0, 0.0, 0.0]], np.where(rows[:, :1] < 30, [[0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]])
        )

    result = extract_rules(columns, play, ["unknown", "young", "old"], sample=sample, read=read)
    assert [result.arm_at(each) for each in ({}, {"age": 20, "member": True}, {"age": 50})] == ["unknown", "young", "old"]
    assert {region.where for region in result} == {"age is missing", "age < 30", "age >= 30"}
    assert result.arms_at([{"age": 29}, {"age": 31}]) == ["young", "old"]


def test_one_column_with_missing_values() -> None:
    sample = np.append(np.random.default_rng(0).normal(0, 5, 300), [np.nan] * 20).reshape(-1, 1)
    result = extract_rules(
        [Column("t", missing=True)],
        lambda rows: np.hstack([rows >= 1.5, ~(rows >= 1.5)]).astype(float),
        ["warm", "cold"],
        sample=sample,
    )
    assert str(result) == "t < 1.5 (or missing): play 'cold' (probability 1.00)\nt >= 1.5: play 'warm' (probability 1.00)"


# -- exact ---------------------------------------------------------------------------------------------------------------

LINES = {
    "binary": hsb.BinaryTree(depth=6, space=hsb.Box(18, 90)),
    "3-ary": hsb.KaryTree(k=3, depth=3),
    "lexicographic": hsb.Lexicographic(leaves=7),
    "cells": hsb.BinaryTree(depth=4, space=hsb.Cells(16)),
    "odd cells": hsb.Lexicographic(leaves=11, space=hsb.Cells(11)),
    "one of": hsb.OneOf(hsb.BinaryTree(depth=3), hsb.Lexicographic(leaves=9)),
    "arbitrary": hsb.ArbitrarySplits(leaves=6),
}


def noisy(structure: hsb.Structure, rounds: int = 300, *, tree: bool = False) -> hsb.HSB:
    """A default that has seen mostly noise, so that many parts differ; if asked for, advised by a tree in several features too."""
    rng = np.random.default_rng(5)
    low, high = np.array([structure.space.bounds(j, 0.0, 1.0) for j in range(structure.space.features)]).T
    contexts = low + rng.random((rounds, len(low))) * (high - low)
    contexts = np.floor(contexts) if isinstance(structure.space, hsb.Cells) else contexts
    policy = hsb.HSB(structure, arms=["a", "b", "c"], seed=0)
    policy = with_tree(policy) if tree else policy
    hsb.simulate(policy, contexts, rng.random((rounds, 3)) < (0.4 + 0.2 * rng.random(3)))
    return policy


@pytest.mark.parametrize("structure", LINES.values(), ids=LINES)
def test_the_intervals_of_one_feature_are_exact(structure: hsb.Structure) -> None:
    """Asked at thousands of places, one by one: the same arms, changing at the same places."""
    policy = noisy(structure)
    explanation = policy.explain()
    low, high = structure.space.bounds(0, 0.0, 1.0)
    probes = np.arange(low, high) if isinstance(structure.space, hsb.Cells) else np.linspace(low, high, 5 * 7 * 9 * 64)[:-1]
    arms = [policy.arms[int(np.argmax(policy.probabilities(x)))] for x in probes.tolist()]
    assert explanation.arms_at(probes) == arms
    ends = [x for x, (a, b) in zip(probes[1:], pairwise(arms), strict=True) if a != b]
    inner = [region.bounds[0][0] for region in explanation][1:]  # type: ignore[index]
    assert len(inner) == len(ends) and np.allclose(inner, ends, atol=(high - low) / len(probes) * 1.01)
    assert explanation.agreement == 1.0 and [a.bounds[0][1] for a in explanation][:-1] == inner  # type: ignore[index]
    assert all(a.arm != b.arm for a, b in pairwise(explanation))


@pytest.mark.parametrize(
    "structure",
    [hsb.PositionSplits(bits=[2, 1, 1]), hsb.BinaryTree(depth=8, space=hsb.Box([-1, 18, 0], [1, 90, 5]))],
    ids=["position", "tree"],
)
def test_few_cells_are_exact(structure: hsb.Structure) -> None:
    policy = noisy(structure, 800, tree=True)
    explanation = policy.explain()
    low, high = structure.space.ends()
    fresh = low + np.random.default_rng(0).random((2000, len(low))) * (high - low)
    assert explanation.agreement == 1.0 and agreement(explanation, policy, fresh) == 1.0


def test_nothing_is_learned_by_asking() -> None:
    policy = noisy(LINES["binary"])
    twin = policy.copy()
    policy.explain()
    assert all(np.array_equal(a, twin.to_arrays()[name]) for name, a in policy.to_arrays().items())
    one, other = policy.decide(40.0), twin.decide(40.0)
    assert (one.arm, one.propensity) == (other.arm, other.propensity) and policy.rounds == twin.rounds


def test_a_deep_tree_is_asked_nearly_exactly() -> None:
    policy = hsb.HSB(hsb.BinaryTree(depth=40), arms=2, seed=0)
    contexts = np.random.default_rng(0).random(3000)
    hsb.simulate(policy, contexts, np.column_stack([contexts >= 0.25, contexts < 0.25]).astype(float))
    explanation = policy.explain()
    assert edges_of(policy.structure) is None
    assert agreement(explanation, policy, np.random.default_rng(1).random(2000)) >= 0.99
    assert str(explanation).startswith("0 <= x < 0.25: play 0")


def test_arms_that_are_not_available_are_not_named() -> None:
    policy = readme()
    policy.remove_arm("a")
    assert {region.arm for region in policy.explain()} <= {"b", "c"}
    policy.add_arm("d")
    assert len(policy.explain().arms) == 4


# -- cuts and joints -----------------------------------------------------------------------------------------------------


def halves(cut: object, columns: tuple[Column, ...], X: Array) -> np.ndarray:
    part = tuple(cut.left if j == cut.column else column.everything for j, column in enumerate(columns))  # type: ignore[attr-defined]
    return inside(part, columns, X)


@pytest.mark.parametrize("seed", range(12))
def test_the_best_cut_is_the_best_of_all(seed: int) -> None:
    """Thresholds may be rounded at the price of a fiftieth of the gain; sets of categories are best for two arms."""
    rng = np.random.default_rng(seed)
    X, y, w = rng.integers(0, 9, size=(60, 3)).astype(float), rng.integers(0, 3, size=60), rng.random(60)
    numbers = columns_of(hsb.Box([0] * 3, [8] * 3))
    cut = best_cut(tuple(c.everything for c in numbers), numbers, [None] * 3, X, y, w)
    best, none = naive_cuts.best_threshold(X, y, w), float(sum(w[y == a].sum() ** 2 for a in range(3)) / w.sum())
    assert best >= naive_cuts.gini(y, w, halves(cut, numbers, X)) >= best - 0.02 * (best - none) - 1e-12
    sets = (Column("c", "category", labels=tuple("abcdef")),)
    codes = rng.integers(MISSING, 6, size=(60, 1)).astype(float)
    cut = best_cut((sets[0].everything,), sets, [None], codes, y % 2, w)
    assert naive_cuts.gini(y % 2, w, halves(cut, sets, codes)) == pytest.approx(naive_cuts.best_subset(codes[:, 0], y % 2, w))


def test_what_cannot_be_cut() -> None:
    (x,) = columns_of(hsb.Box.unit())
    assert best_cut((x.everything,), (x,), [None], np.full((5, 1), 0.5), np.arange(5), np.ones(5)) is None


@given(st.floats(-1e6, 1e6), st.floats(1e-9, 1e6))
def test_a_threshold_is_between(low: float, width: float) -> None:
    high = low + width
    if low < high:
        assert low < threshold(low, high) <= high


def test_thresholds_are_round() -> None:
    assert [threshold(0.31, 0.36), threshold(35.5, 41.2), threshold(-3.0, 2.0), threshold(999.4, 1002.0)] == [
        0.35,
        40.0,
        0.0,
        1000.0,
    ]
    assert threshold(-np.inf, 3.0) == LEAST


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=40))
def test_joining_changes_nothing_but_the_number_of_parts(cuts: list[tuple[int, int]]) -> None:
    """A space cut at random: the joined parts hold the same points, each once."""
    columns = (*columns_of(hsb.Box.unit(2)), Column("c", "category", labels=tuple("abcd")))
    parts: list[Part] = [tuple(column.everything for column in columns)]
    for i, (j, which) in enumerate(cuts):
        part = parts.pop((7 * i + which) % len(parts))
        side = part[j]
        if isinstance(side, frozenset):
            some = sorted(side)
            two: list[object] = (
                [frozenset(some[: len(some) // 2]), frozenset(some[len(some) // 2 :])] if len(some) > 1 else [side]
            )
        else:
            middle = (side[0] + side[1]) / 2
            two = [(side[0], middle), (middle, side[1])]
        parts += [(*part[:j], half, *part[j + 1 :]) for half in two]  # type: ignore[arg-type]
    kept = parts[::2]
    rng = np.random.default_rng(0)
    points = np.column_stack([rng.random((300, 2)), rng.integers(MISSING, 4, 300)])
    counts = np.sum([inside(part, columns, points) for part in kept], axis=0)
    assert np.array_equal(counts, np.sum([inside(part, columns, points) for part in union(kept)], axis=0))
    assert sorted(i for _, members in join(kept) for i in members) == list(range(len(kept)))
    assert len(union(parts)) <= len(parts)


def test_worlds_stay_inside() -> None:
    rng, sample = np.random.default_rng(0), visitors(400, 1)
    seen = SimilarContexts(VISITOR, sample)
    part = [column.everything for column in VISITOR]
    part[0], part[1], part[3] = frozenset({0, 3}), (30.0, 41.0), (5.0, 6.5)
    for points in (seen.within(tuple(part), 200, rng), seen.within((*part[:5], (1e5, 2e5)), 50, rng)):
        assert inside((*part[:5], VISITOR[5].everything), VISITOR, coded(VISITOR, points)).all()
    ages = seen.draw(4000, rng)[:, 1]
    assert 0.1 < np.isnan(ages).mean() < 0.3 and np.array_equal(ages[~np.isnan(ages)], np.round(ages[~np.isnan(ages)]))
    cells = Everywhere(columns_of(hsb.Cells(5)))
    assert set(cells.draw(200, rng).ravel()) == set(range(5))
    with pytest.raises(hsb.InputError, match="The range of 'age' is unknown"):
        extract_rules((Column("age"),), by_rules, ["a"])
    with pytest.raises(hsb.InputError, match="row of 6 numbers"):
        extract_rules(VISITOR, by_rules, ["a"], sample=np.zeros((3, 2)))


# -- for people ----------------------------------------------------------------------------------------------------------


def test_names_are_used_in_the_users_units() -> None:
    policy = hsb.HSB(hsb.BinaryTree(depth=6, space=hsb.Box([18, 0], [90, 500])), arms=["tea", "coffee"], seed=0)
    rng = np.random.default_rng(0)
    contexts = np.column_stack([rng.uniform(18, 90, 4000), rng.uniform(0, 500, 4000)])
    young = contexts[:, 0] < 36
    hsb.simulate(policy, contexts, np.column_stack([young, ~young]).astype(float))
    text = str(policy.explain(names=["age", "spend"]))
    assert re.sub(r"probability \d.\d\d", "probability", text) == (
        "age >= 36: play 'tea' (probability, coverage 0.75)\nage < 36: play 'coffee' (probability, coverage 0.25)"
    )
    assert [column.name for column in policy.explain().columns] == ["x0", "x1"]
    for bad in (["age"], ["age", "age"], ["age", 3], "age", ["", "b"], 7):
        with pytest.raises(hsb.InputError, match="names needs 2 different names"):
            policy.explain(names=bad)  # type: ignore[arg-type]


def test_nodes_are_called_by_their_names() -> None:
    ages = hsb.Hierarchy(
        {"all": {"leaves": [0, 1, 2, 3], "groups": [["young", "old"]]}, "young": {"leaves": [0]}, "old": {"leaves": [1, 2, 3]}}
    )
    policy = hsb.HSB(ages, arms=["a", "b"], seed=0)
    assert str(policy.explain()) == "all: never seen"
    leaf = np.random.default_rng(0).integers(0, 4, 2000)
    hsb.simulate(policy, leaf, np.column_stack([leaf > 0, leaf == 0]).astype(float))
    assert [line.split(" (")[0] for line in str(policy.explain()).splitlines()] == ["young: play 'a'", "old: play 'b'"]


def many() -> Explanation:
    cut = np.linspace(0.0, 1.0, 31) ** 2
    sides = [
        Region((((float(a), float(b)), (0.0, 1.0)),), "ab"[i % 2], 0.9, coverage=float(b - a))
        for i, (a, b) in enumerate(pairwise(cut))
    ]
    tree = hsb.BinaryTree(depth=2, space=hsb.Box.unit(2))
    return Explanation(tuple(sides), None, ("a", "b"), tree, tree)


def test_the_largest_rules_come_first() -> None:
    lines = str(many()).splitlines()
    assert len(lines) == 13 and lines[-1] == "... and 18 smaller ones, 36 % of contexts: explain(top=None)"
    shares = [float(line.rpartition("coverage ")[2][:-1]) for line in lines[:-1]]
    assert shares == sorted(shares, reverse=True)
    policy = taught_banners(20_000)
    whole = policy.explain(rules=None)
    for top in (1, 5):  # what is left out, and what matters
        assert len(str(replace(whole, top=top)).splitlines()) == top + 2
    assert len(str(policy.explain(top=None, rules=None)).splitlines()) == len(whole) + 1
    for bad in (0, -1, 2.5, "all", True):
        with pytest.raises(hsb.InputError, match="top must be"):
            policy.explain(top=bad)  # type: ignore[arg-type]


def test_a_few_rules_say_the_most_important() -> None:
    policy = taught_banners(20_000)
    fresh, whole = np.random.default_rng(0).random((2000, 6)), len(policy.explain(rules=None))
    for rules in (1, 4, 8):
        explanation = policy.explain(rules=rules)
        assert len(explanation) <= rules < whole and explanation.agreement is not None
        assert agreement(explanation, policy, fresh) == pytest.approx(explanation.agreement, abs=0.03)
    assert explanation.agreement > 0.75 and f"In {100 * explanation.agreement:.0f} % of contexts" in str(explanation)
    with pytest.raises(hsb.InputError, match="rules must be"):
        policy.explain(rules=0)
    with pytest.raises(hsb.InputError, match="top= "):
        hsb.HSB(hsb.BinaryTree(depth=3), arms=2, horizon=100).explain(rules=3)


def test_html_is_safe_and_folds() -> None:
    nasty = "<script>alert('x')</script>"
    column = Column("a & <b>", "category", labels=(nasty, "ok"))
    sample = np.random.default_rng(0).integers(0, 2, size=(50, 1)).astype(float)
    result = extract_rules([column], lambda rows: np.hstack([rows, 1 - rows]), ["<i>one</i>", "two"], sample=sample)
    page = result._repr_html_()
    assert "<script" not in page and "<i>" not in page and "a &amp; &lt;b&gt;" in page and "&lt;i&gt;one" in page
    assert "<details" not in page and "http" not in page
    folded = many()._repr_html_()
    assert folded.count("<tr>") == 30 + 2 and "<summary>... and 18 smaller ones, 36 % of contexts</summary>" in folded
    assert repr(many()) == "Explanation(30 regions, 2 arms)"
    assert "never seen" in hsb.HSB(hsb.BinaryTree(depth=2), arms=2).explain()._repr_html_()


def test_importance_finds_what_matters() -> None:
    """Play by the first and third of four: half of the contexts change sides of the first, a quarter of those of the third."""

    def play(rows: Array) -> Array:
        return softmax(
            9.0 * np.column_stack([rows[:, 0] < 0.5, (rows[:, 0] >= 0.5) & (rows[:, 2] < 0.5), 0.5 * np.ones(len(rows))])
        )

    result = extract_rules(columns_of(hsb.Box.unit(4), ["hour", "noise", "spend", "dust"]), play, list("abc"))
    assert result.importance == pytest.approx({"hour": 0.5, "noise": 0.0, "spend": 0.25, "dust": 0.0}, abs=0.03)
    assert result.importance["noise"] == result.importance["dust"] == 0.0
    assert re.search(r"^matters most: hour 0\.\d\d, spend 0\.\d\d$", str(result), re.M)
    policy = taught_banners(20_000)
    order = sorted(policy.explain().importance.items(), key=lambda each: -each[1])
    assert {name for name, _ in order[:3]} == {"x0", "x1", "x2"} and order[-1][0] == "x5"


@pytest.mark.parametrize(
    ("side", "said"),
    [
        (frozenset({0, 1}), "c in FR, DE"),
        (frozenset({2}), "c is IT"),
        (frozenset({MISSING}), "c is missing"),
        (frozenset({NEW}), "c is any other"),
        (frozenset({0, MISSING}), "c in FR, missing"),
        (frozenset({0, 1, NEW, MISSING}), "c is not IT"),
        (frozenset({0, 1, 2, NEW}), "c is not missing"),
        (frozenset({0, 1, 2, MISSING}), "c is known"),
        (frozenset(range(MISSING, 3)), ""),
    ],
)
def test_sets_in_words(side: frozenset[int], said: str) -> None:
    assert Column("c", "category", labels=("FR", "DE", "IT"), missing=True).condition(side) == said


def test_ranges_and_long_lists_in_words() -> None:
    age = Column("age", missing=True)
    sides = [(-np.inf, LEAST), (LEAST, np.inf), (LEAST, 30.0), (-np.inf, 30.0), (30.0, 45.5), (45.5, np.inf)]
    assert [age.condition(side) for side in sides] == [
        "age is missing",
        "age is not missing",
        "age < 30",
        "age < 30 (or missing)",
        "30 <= age < 45.5",
        "age >= 45.5",
    ]
    long = Column("c", "category", labels=tuple(f"k{i}" for i in range(30)))
    assert long.condition(frozenset(range(12))) == "c in k0, k1, k2, k3, k4, k5, k6, k7 and 4 more"
    assert Column("m", "flag").condition(frozenset({0, MISSING})) == "m is false"


def test_pictures_of_any_number_of_columns(tmp_path: object) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    policy = taught_banners(2_000)
    explanation = policy.explain(names=["age", "spend", "hour", "visits", "income", "dust"])
    ax = explanation.plot()
    above, below = ax.figure.axes
    assert [label.get_text() for label in above.get_yticklabels()][-1] == max(
        explanation.importance, key=lambda name: explanation.importance[name]
    )
    assert "arm played most" in below.get_title(loc="left") and len(below.patches) == min(10, len(explanation))
    _, alone = matplotlib.pyplot.subplots()
    assert explanation.plot(alone) is alone and len(alone.figure.axes) == 1
    assert len(explanation.plot_importance().patches) == 6
    assert hsb.plot.explanation_png(explanation).startswith(b"\x89PNG")
    mixed = extract_rules(VISITOR, by_rules, list("abcd"), sample=visitors(300, 0))
    assert hsb.plot.explanation_png(mixed).startswith(b"\x89PNG")
    strip = readme().explain(names=["age"]).plot()
    assert strip.get_xlabel() == "age" and strip.get_title(loc="left") == "The arm played most"
    matplotlib.pyplot.close("all")


def test_a_mapping_is_measured_too() -> None:
    """With a horizon it is the most probable mapping still; joined in print."""
    policy = hsb.HSB(hsb.BinaryTree(depth=8, space=hsb.Box.unit(2)), arms=BANNERS, horizon=5_000, seed=0)
    x, losses = banners(5_000)
    hsb.simulate(policy, x[:, :2], losses)
    explanation, mapping = policy.explain(), policy.learner.prior.mapping(policy.learner.mixture, policy.arms)
    assert explanation.log_probability == mapping.log_probability and len(explanation) == len(mapping)
    assert explanation.agreement is not None and explanation.agreement > 0.7 and set(explanation.importance) == {"x0", "x1"}
    assert len(str(explanation).splitlines()) <= len(explanation)
    assert sum(region.coverage for region in explanation) == pytest.approx(1.0)
    fresh = np.random.default_rng(0).random((500, 2))
    assert explanation.merged().arms_at(fresh) == explanation.arms_at(fresh)
    assert hsb.HSB(hsb.BinaryTree(depth=3), arms=2).explain().regions[0].seen is False
