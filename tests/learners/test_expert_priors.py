"""Prior weights of experts and of mappings: what they cost, and what is refused."""

import math

import numpy as np
import pytest

import hsb
from hsb.learners.expert_priors import ExpertsPrior, MappingsPrior

TREE = hsb.BinaryTree(depth=2)


def mappings(shape, structure=TREE, arms=2, **settings):
    return MappingsPrior.of(structure, arms, shape, **{"regions": None, "stop": None} | settings)


def test_shares_add_to_one_and_the_least_sets_the_cost():
    prior = ExpertsPrior.of(3, 2, [1, 2, 5])
    assert prior.shares == pytest.approx([0.125, 0.25, 0.625]) and prior.cost == pytest.approx(math.log(8))
    assert ExpertsPrior.of(5, 2, None).cost == pytest.approx(math.log(5))
    assert prior.settings() == {"experts": 3, "functions": None, "prior": [1.0, 2.0, 5.0]}


def test_uniform_mappings_all_cost_the_same():
    prior = mappings("uniform")
    assert len(prior.mappings) == 16 and prior.cost == prior.worst_cost == pytest.approx(4 * math.log(2))
    assert prior.logs == pytest.approx(np.full(16, -prior.cost))


def test_the_complexity_of_mappings_adds_to_one_and_constant_ones_weigh_most():
    prior = mappings("complexity")
    weights = dict(zip(map(tuple, prior.mappings.table.tolist()), np.exp(prior.logs).tolist(), strict=True))
    assert sum(weights.values()) == pytest.approx(1.0, rel=1e-12) and len(weights) == 16
    assert weights[0, 0, 0, 0] == weights[1, 1, 1, 1] == max(weights.values())
    assert weights[0, 0, 1, 1] > weights[0, 1, 0, 1] == weights[1, 0, 1, 0] == min(weights.values())
    assert all(
        -log <= prior.worst_cost + 1e-12
        for (*arms,), log in zip(weights, prior.logs, strict=True)
        if arms[0] == arms[1] and arms[2] == arms[3]
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ExpertsPrior.of("abc", 2, None), "experts must be a list of functions"),
        (lambda: ExpertsPrior.of(0, 2, None), "at least 1"),
        (lambda: ExpertsPrior.of(3, 2, [1.0, 2.0]), "a positive number for each of the 3 experts"),
        (lambda: ExpertsPrior.of(2, 2, [1.0, 0.0]), r"prior\[1\] is 0.0"),
        (
            lambda: ExpertsPrior.of(mappings("uniform", arms=3).mappings, 2, None),
            "arm number 2; with 2 arms they must be below 2",
        ),
        (lambda: mappings("flat"), "'uniform' or 'complexity'; given 'flat'"),
        (lambda: mappings("uniform", regions=2), "a uniform prior has no regions. Leave them out"),
        (lambda: mappings("complexity", 4), r"needs a structure, e.g. hsb.BinaryTree\(depth=3\)"),
    ],
)
def test_what_is_no_prior_is_refused(call, message):
    with pytest.raises(hsb.InputError, match=message):
        call()


@pytest.mark.parametrize(("shape", "policy"), [("uniform", "hsb.SExp3"), ("complexity", "hsb.HSB")])
def test_too_many_mappings_are_refused_before_any_is_listed(shape, policy):
    with pytest.raises(hsb.BudgetError, match=rf"2 arms on 1,024 leaves make 2\^1024 = 2\^1,024.0 mappings.*{policy}"):
        mappings(shape, hsb.BinaryTree(depth=10))
