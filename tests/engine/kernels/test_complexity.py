"""The paper's O(M ln N) a round for the binary tree: nodes visited and lines of kernels executed are counted. No test asks the clock."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.operations import ARMS, DEPTHS, LEAVES, trained, worst

import hsb


def visited(policy, context):
    policy.decide(context)
    return int(policy.learner.mixture.state.visited[-1])


@pytest.mark.parametrize("depth", [1, 2, 5, 10, 11, 12, 20, 40, 52])
def test_a_round_on_the_tree_visits_depth_plus_one_nodes(depth):
    """At most; and so many where others branch off at every node of the path. 2^(depth+1) - 1 nodes there are."""
    for arms in (2, 30):
        assert visited(trained(hsb.BinaryTree(depth=depth), arms, worst(depth)), 0.0) == depth + 1
    policy = trained(hsb.BinaryTree(depth=depth), 3, np.random.default_rng(0).random(200).tolist())
    assert max(visited(policy, context) for context in np.random.default_rng(1).random(300).tolist()) <= depth + 1


@pytest.mark.parametrize("k", [2, 3, 8])
def test_a_round_on_a_wider_tree_too(k):
    assert visited(trained(hsb.KaryTree(k=k, depth=4), 3, [0.3]), 0.3) == 5


def test_other_structures_visit_the_nodes_that_contain_the_context():
    """Controls: neither visits as few as a tree over as many cells, and the count shows it."""
    contexts = ((np.arange(16) + 0.5) / 16).tolist()
    intervals = trained(hsb.Lexicographic(leaves=16), 3, contexts)
    assert [visited(intervals, context) for context in contexts] == [
        (i + 1) * (16 - i) for i in range(16)
    ]  # of them up to N²/4
    for bits in (3, 6):
        columns = trained(hsb.PositionSplits(bits=[1] * bits), 3, [[0.0] * bits])
        assert visited(columns, [0.0] * bits) == 2**bits  # every bit given or not, of N = 2^bits cells: N


@pytest.fixture(scope="module")
def counted():
    """Lines executed by (a whole round, all probabilities) in an interpreter without compilation."""
    script = Path(__file__).parents[2] / "support" / "operations.py"
    environment = os.environ | {"HSB_ENGINE": "python"}
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environment, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return {name: np.array(table, dtype=float) for name, table in json.loads(ran.stdout).items()}


def test_a_round_takes_at_most_a_constant_times_m_times_ln_n(counted):
    """One constant for M from 2 to 1024 and N from 4 to 2^48; without the factors M and ln N there is none (control)."""
    nodes, arms = np.array(DEPTHS) + 1.0, np.array(ARMS)[:, None, None]
    per_weight = counted["tree"] / (arms * nodes[:, None])
    assert per_weight.max() < 60
    assert (counted["tree"] / nodes[:, None]).max() > 2000 and (counted["tree"] / arms).max() > 1000


@pytest.mark.parametrize(("shallow", "deep"), [(4, 8), (24, 48)])
def test_the_cost_grows_with_the_depth_and_not_with_the_leaves(counted, shallow, deep):
    """By no more than the nodes of a path do, for each number of arms. The leaves are 16 and 16 million times as many. (4 and 8: full
    tables; 24 and 48: path-compressed ones.)"""
    growth = counted["tree"][:, DEPTHS.index(deep)] / counted["tree"][:, DEPTHS.index(shallow)]
    assert growth.min() > 1.2 and growth.max() < (deep + 1) / (shallow + 1)


def test_what_an_arm_more_costs_is_linear_in_the_depth(counted):
    """All probabilities: lines for each arm more. Twice the depth is twice the growth, within a tenth: M ln N, and not M + ln N."""
    lines = counted["tree"][..., 1]
    few, many = ARMS.index(256), ARMS.index(1024)
    slope = (lines[many] - lines[few]) / (ARMS[many] - ARMS[few])
    steps = np.diff(slope) / np.diff(DEPTHS)
    assert steps.min() >= 1.0 and steps == pytest.approx(steps.mean(), rel=0.1)


def test_a_round_costs_no_more_than_m(counted):
    """With the number of arms a whole round grows more slowly than M: 512 times the arms, at most 3 times the lines."""
    rounds = counted["tree"][..., 0]
    assert (rounds[-1] / rounds[0]).max() < 3


def test_the_counts_would_show_another_order(counted):
    """Control: the lexicographic structure, whose rounds visit up to N²/4 nodes. Twice the leaves cost it three times and more."""
    rounds = counted["lexicographic"][:, 0]
    growth = rounds[1:] / rounds[:-1]
    assert len(rounds) == len(LEAVES) and (growth[1:] > 2.5).all() and growth[-1] > 3
