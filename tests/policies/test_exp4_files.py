"""EXP4: files and copies go on where it was; functions are given again."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from support.exp4_cases import ARMS, FUNCTIONS, KINDS, TREE, contexts, left, made, soft, some_arms, state
from support.refusals import refused

import hsb
from hsb.policies.exp4 import Exp4
from hsb.structures.mappings import Mappings, mappings

# -- files, copies ---------------------------------------------------------------------------------------------------


def go_on(policy: Exp4, kind: str, rounds: int = 40) -> list[tuple[Any, float]]:
    rng = np.random.default_rng(9)
    seen = []
    for context in contexts(kind, rounds, rng):
        decision = policy.decide(context, available=[ARMS[m] for m in some_arms(rng, 3, 0.3) or range(3)])
        policy.learn(decision, loss=float(rng.random()))
        seen.append((decision.arm, decision.propensity))
    return seen


@pytest.mark.parametrize(
    "rate", [{}, {"learning_rate": None}, {"learning_rate": None, "horizon": 1000}, {"learning_rate": 40.0}]
)
@pytest.mark.parametrize("kind", KINDS)
def test_files_and_copies_go_on_bit_for_bit(kind, rate, tmp_path):
    count = len(made(kind).weights)
    policy = made(kind, prior=np.arange(1, count + 1) / 7, **rate)
    go_on(policy, kind, 200)
    policy.save(tmp_path / "policy")
    given = {"experts": policy.experts} if kind.startswith("functions") else {}
    twins = [hsb.load(tmp_path / "policy", **given), policy.copy(), copy.deepcopy(policy)]
    if not kind.startswith("functions"):  # pickle takes no lambdas
        twins.append(pickle.loads(pickle.dumps(policy)))
    expected = go_on(policy, kind)
    for twin in twins:
        assert repr(twin.learning_rate) == repr(policy.learning_rate) and np.array_equal(twin.prior, policy.prior)
        assert go_on(twin, kind) == expected
        assert state(twin)["arrays"] == state(policy)["arrays"]


def test_functions_that_can_be_pickled_are():
    policy = Exp4([left, soft], arms=ARMS, learning_rate=0.3, seed=0)
    twin = pickle.loads(pickle.dumps(policy))
    assert go_on(twin, "functions") == go_on(policy, "functions")


def test_functions_are_not_in_files(tmp_path):
    path = tmp_path / "policy"
    made("functions").save(path)
    refused(lambda: hsb.load(path), ["its 6 experts are functions", "hsb.load(path, experts=[...])"], hsb.FileError)
    refused(lambda: hsb.load(path, experts=FUNCTIONS[:2]), ["the 6 functions", "given"], hsb.FileError)
    refused(lambda: hsb.load(path, experts=6), ["the 6 functions", "given 6"], hsb.FileError)
    made("arms").save(path)
    refused(lambda: hsb.load(path, experts=FUNCTIONS), ["not functions", "Leave experts= out"], hsb.FileError)


def test_listed_mappings_and_their_own_tables_are_in_files(tmp_path):
    own = Exp4(Mappings(TREE, [[0, 0, 1, 1], [2, 2, 2, 2]]), arms=3, learning_rate=0.2)
    own.save(tmp_path / "policy")
    assert hsb.load(tmp_path / "policy").experts.table.tolist() == own.experts.table.tolist()
    cells = Exp4(mappings(hsb.Cells(5), arms=2, regions=2), arms=2, learning_rate=0.2)
    cells.save(tmp_path / "policy")
    assert hsb.load(tmp_path / "policy").experts.table.tolist() == cells.experts.table.tolist()


def test_a_state_that_cannot_be_is_refused(tmp_path):
    for name, value in (("scaled", 0.0), ("scaled", -1.0), ("logs", 5.0), ("logs", np.nan)):
        policy = made("arms")
        getattr(policy.learner, name)[:] = value
        policy.save(tmp_path / "policy")
        with pytest.raises(hsb.FileError):
            hsb.load(tmp_path / "policy")


def test_it_says_what_it_is():
    assert repr(made("functions")) == "Exp4(experts=6, learning_rate=0.4, arms=['a', 'b', 'c'], rounds=0)"
    assert "Mappings(BinaryTree(depth=2), 57 mappings)" in repr(made("mappings"))
    assert made("arms").nbytes == 2 * 5 * 8 + 8
