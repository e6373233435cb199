"""Files that ask for far more than they hold, of policies that find out features, are refused before it is taken; honest ones are read."""

import gc
import tracemalloc
from typing import Any

import numpy as np
import pytest
from support.attack.bombs import bomb, category, drawn, tried
from support.attack.forged import MAKERS, facts, play
from support.forged_cases import changed

import hsb
from hsb.engine.kernels.words import ensemble as words
from hsb.engine.state.ensemble import MOST_SPREAD, forest_nodes, linear_models, piece
from hsb.engine.state.member import Member
from hsb.files import policy_file
from hsb.files.memory_limit import afford, limited
from hsb.files.zip_reader import RATIO, SMALL

WORDS = [["value", 0, f"{i:x}"] for i in range(16000)]
BOMBS = {
    "columns that models see": lambda: bomb([["c", category(65536)]], WORDS, width=65536),
    "columns of one arm": lambda: bomb([["c", category(65536)]], WORDS, width=65536, arms=1),
    "categories": lambda: bomb([[f"c{i}", category(65536)] for i in range(1000)], []),
    "features": lambda: bomb(
        [],
        [
            ["form", "named", 0],
            *([what, *rest] for i in range(100_000) for what, *rest in (["name", f"{i}"], ["kind", i, "flag"])),
        ],
        columns=100_000,
    ),
    "words": lambda: bomb(
        [["c", category(65536)], ["t", {"kind": "Tags", "limit": 65536}]], [["value", 1, f"{i:x}"] for i in range(65536)]
    ),
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.long) if name == "features" else name for name in BOMBS])
def test_memory_and_time_in_proportion_to_the_file(name, tmp_path):
    data = BOMBS[name]()
    (tmp_path / "bomb.hsb").write_bytes(data)
    gc.collect()
    tracemalloc.start()
    try:
        with pytest.raises(hsb.FileError, match=r"out of proportion to the size|has width"):
            hsb.load(tmp_path / "bomb.hsb")
        assert tracemalloc.get_traced_memory()[1] < 4 * policy_file.MADE * (SMALL + RATIO * len(data))
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("seed", range(8))
def test_bombs_of_any_size(seed):
    """`make test-attack` tries more of them."""
    assert tried(drawn(np.random.default_rng([3, seed]))) in ("refused", "read")


HONEST = {
    "one arm": lambda: hsb.HSB(arms=1, seed=0),
    "300 arms": lambda: hsb.HSB(arms=300, seed=0),
    "5000 arms": lambda: hsb.HSB(arms=5000, seed=0),
    "1000 numbers": lambda: hsb.HSB(arms=3, features=hsb.Features({f"n{i}": hsb.Number() for i in range(1000)}), seed=0),
    "long lists of categories": lambda: hsb.HSB(
        arms=20, features=hsb.Features({f"n{i}": hsb.Category(limit=10_000) for i in range(20)}), seed=0
    ),
    "wide": lambda: hsb.HSB(arms=2, features=hsb.Features(t=hsb.Tags(limit=2000)).limit(width=65536), seed=0),
}


@pytest.mark.parametrize("name", HONEST)
def test_whatever_was_made_can_be_read(name):
    """A file of a policy that has learned nothing is the smallest of its kind."""
    policy = HONEST[name]()
    assert facts(policy_file.unpack(policy_file.pack(policy), {})) == facts(policy)


def test_words_and_features_that_came_one_by_one_can_be_read():
    policy = hsb.HSB(arms=2, features=hsb.Features().limit(width=64), seed=0)
    context = {f"n{i}": f"word {i}" for i in range(300)} | {"t": [f"tag {i}" for i in range(64)]}
    policy.learn(policy.decide(context), loss=1.0)
    assert facts(policy_file.unpack(policy_file.pack(policy), {})) == facts(policy)


def test_a_budget_is_spent():
    with limited(100):
        afford(60)
        with limited(1000):
            afford(30)
        with pytest.raises(hsb.BudgetError):
            afford(20)
        afford(10)
    afford(1e30)


def largest(member: Member, what: str) -> None:
    """Put something at the most that a file may say."""
    stack = piece(member, words.STACK, words.MEMORIES + 4 * member.arms)
    covariances = linear_models(member)[1]
    if what == "rounds":
        stack[words.ROUNDS] = stack[words.LOST] = 2.0**53
    elif what == "evidence":
        stack[words.EVIDENCE] = 1e100
    elif what == "memories":
        stack[words.MEMORIES :] = 501.0
    elif what == "counts":
        forest_nodes(member)[:, words.COUNTS :] = 2.0**53
    elif what == "spread":
        covariances[:, 0, :] = covariances[:, :, 0] = 0.0
        covariances[:, 0, 0] = MOST_SPREAD**2 * (1.0 - 1e-9)
    else:
        spread = stack[words.COVARIANCE : words.COVARIANCE + words.INPUTS**2].reshape(words.INPUTS, -1)
        spread[:] = np.eye(words.INPUTS) * MOST_SPREAD**2 * (1.0 - 1e-9)


@pytest.mark.parametrize("what", ["rounds", "evidence", "memories", "counts", "spread", "spread of the stack"])
def test_what_may_be_read_at_its_limit_can_be_read_after_more_rounds(what):
    policy = MAKERS["features"]()
    play(policy, 60, seed=1)
    member = policy.learner.mixture.state.members[1]
    data = changed(policy, lambda header, entries: largest(Member(entries["1.floats"], member.I), what))
    forged = policy_file.unpack(data, {})
    assert forged.digest() != policy.digest()
    for k in range(8):
        play(forged, 1, seed=k)
        assert facts(policy_file.unpack(policy_file.pack(forged), {})) == facts(forged)


@pytest.mark.parametrize("factor", [1.0, 2.0**10, 2.0**32])
def test_spreads_beyond_are_refused(factor):
    """Where a variance is far too large, one round leaves nothing of the covariance but rounding."""
    policy = MAKERS["features"]()
    play(policy, 60, seed=1)
    member = policy.learner.mixture.state.members[1]

    def change(header: dict[str, Any], entries: dict[str, Any]) -> None:
        covariances = linear_models(Member(entries["1.floats"], member.I))[1]
        covariances[:, 0, :] = covariances[:, :, 0] = 0.0
        covariances[:, 0, 0] = (MOST_SPREAD * factor) ** 2

    with pytest.raises(hsb.FileError, match="no rounds lead to"):
        policy_file.unpack(changed(policy, change), {})


def test_arms_are_added_within_the_memory_that_a_policy_with_so_many_has(monkeypatch):
    """The models of 1,000 arms see 91 columns, also where the policy began with two arms."""
    from hsb.engine.state import ensemble

    monkeypatch.setattr(ensemble, "WIDEST", 1 << 12)
    rng, policy = np.random.default_rng(0), hsb.HSB(arms=["a", "b"], seed=0)
    assert policy.learner.reader.width == 45
    for _ in range(40):
        context = {
            "c": f"c{rng.integers(30)}",
            "x": float(rng.normal()),
            "t": [f"t{rng.integers(20)}"],
            "f": bool(rng.random() < 0.5),
        }
        policy.learn(policy.decide(context), reward=float(rng.random() < 0.5))
    open_ = policy.decide(context)
    for m in range(2, 30):
        policy.add_arm(f"arm {m}")
        reader = policy.learner.reader
        assert reader.width == ensemble.width_for(m + 1, 256) and reader.columns <= reader.width
        assert (m + 1) * policy.learner.keys.room**2 <= ensemble.WIDEST
        p = policy.probabilities(context)
        assert (p > 0.0).all() and abs(p.sum() - 1.0) < 1e-12
        assert facts(policy_file.unpack(policy_file.pack(policy), {})) == facts(policy)
    policy.learn(open_, reward=1.0)
    for _ in range(40):
        policy.learn(policy.decide({"c": f"d{rng.integers(30)}", "x": float(rng.normal())}), reward=float(rng.random() < 0.5))
    twin = policy_file.unpack(policy_file.pack(policy), {})
    assert facts(twin) == facts(policy)
    assert (twin.probabilities(context) == policy.probabilities(context)).all()
