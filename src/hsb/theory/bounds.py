"""Theorems 1 and 2 and Corollary 1: the regret against mappings that are constant on the leaves."""

import math

from .. import reproducible_math
from ..checks import stop_prior, whole
from ..errors import InputError
from ..structures import Structure
from .checks import check_at_least_zero, check_counts, check_horizon, check_rate, check_structure


def mixture_bound(prior_cost: float, *, learning_rate: float, arms: int, horizon: float) -> float:
    """Theorem 1: the regret against a mapping of prior weight beta is at most ln(1/beta)/rate + M T rate/2.

    `prior_cost` is ln(1/beta): exact from `hsb.theory.prior_cost`, or Theorem 2's upper bound from `prior_bound`. M is `arms`, how many there
    are, T is `horizon`, the number of rounds, and the rate is `learning_rate`. Losses are in [0, 1].

    >>> from hsb import BinaryTree, theory
    >>> cost = theory.prior_cost(BinaryTree(depth=2), [0, 0, 0, 1], arms=2)
    >>> round(mixture_bound(cost, learning_rate=0.02, arms=2, horizon=10_000), 1)
    387.7
    """
    check_at_least_zero("prior_cost", prior_cost)
    check_rate(learning_rate)
    check_horizon(horizon)
    return prior_cost / learning_rate + whole("arms", arms, 1) * horizon * learning_rate / 2.0


def mixture_rate(prior_cost: float, *, arms: int, horizon: float) -> float:
    """The rate at which Theorem 1's bound is smallest, sqrt(2 ln(1/beta) / (M T)); the bound is then sqrt(2 ln(1/beta) M T).

    Arguments as in `mixture_bound`.

    >>> rate = mixture_rate(3.6, arms=2, horizon=10_000)
    >>> round(rate, 5), round(mixture_bound(3.6, learning_rate=rate, arms=2, horizon=10_000), 2)
    (0.01897, 379.47)
    """
    check_at_least_zero("prior_cost", prior_cost)
    check_horizon(horizon)
    return math.sqrt(2.0 * prior_cost / (whole("arms", arms, 1) * horizon))


def constant_rate(prior_cost: float, *, arms: int, horizon: float | None, learning_rate: float | None) -> float | None:
    """A policy's constant rate: `learning_rate`, or for a `horizon` the best of Theorem 1 with ln(1/beta) = `prior_cost`; None for neither.

    Giving both raises `InputError`.

    >>> constant_rate(75.25, arms=3, horizon=None, learning_rate=0.02)
    0.02
    """
    if learning_rate is None:
        if horizon is None:
            return None
        # One arm on one leaf has nothing to learn, and rate 0 in Theorem 1; any other rate will do until an arm is added.
        return mixture_rate(prior_cost, arms=arms, horizon=horizon) or math.sqrt(2.0 * reproducible_math.ln(2.0) / horizon)
    if horizon is not None:
        raise InputError("Give horizon= or learning_rate=, not both: the horizon is only used to set the rate.")
    check_rate(learning_rate, 1e300)
    return float(learning_rate)


def prior_bound(structure: Structure, *, arms: int, regions: int, stop: float | None = None, dearer: float = 0.0) -> float:
    """Theorem 2's upper bound on ln(1/beta): Psi (A_R + 1) ln((H_S + 1) M), for mappings of `regions` regions and M = `arms` arms.

    The other letters are explained in `hsb.Structure`. Regions are counted along the numbered leaves: one more than the places where the arm
    changes from one leaf to the next. In several dimensions a region of the space may be many of these (`docs/errata.md`). For a OneOf only its
    finest structures count: a coarser one cannot represent every mapping of their leaves.

    Theorem 2 is for the uniform prior. With a tree's `stop` prior q, A splits into K parts cost A ln(1/(1-q)) + (A(K-1)+1) ln(M/q), and
    splitting everywhere costs N ln M + (N-1)/(K-1) ln(1/(1-q)); the smaller of the two. Where naming an arm costs more than ln M, by at
    most `dearer`, each of at most Psi (A_R + 1) parts pays that too.

    >>> from hsb import BinaryTree
    >>> round(prior_bound(BinaryTree(depth=10), arms=3, regions=3), 3)
    75.254
    >>> round(prior_bound(BinaryTree(depth=10), arms=3, regions=3, stop=0.9), 3)
    71.335
    """
    check_structure(structure)
    arms, regions, stop = whole("arms", arms, 1), whole("regions", regions, 1), stop_prior(stop)
    check_at_least_zero("dearer", dearer)
    bound = structure.prior_bound(regions, arms, stop)
    return bound + dearer * structure.max_group * (structure.splits(regions, arms) + 1) if dearer else bound


def worst_cost(structure: Structure, *, arms: int, regions: int, stop: float | None = None, dearer: float = 0.0) -> float:
    """Return the cost ln(1/beta) of the most costly mapping: the maximum over all mappings with at most `regions` regions and M = `arms` arms.

    Exact on trees, and never more than Theorem 2's `prior_bound`, which can exceed the dearest mapping that there is (`docs/errata.md`). On the
    other structures it is an upper bound: the least that these three allow. A splits leave A (Psi - 1) + 1 parts, each of which stops
    and names an arm; all parts may be leaves; boxes contain a tree that halves one feature after the other.

    Arguments as in `prior_bound`; `stop=None` is one half. With `dearer` above 0 every part is charged the dearest arm. On trees the time
    is O(depth), whatever the regions and arms.

    >>> from hsb import BinaryTree, theory
    >>> tree = BinaryTree(depth=10)
    >>> round(worst_cost(tree, arms=3, regions=3), 3), worst_cost(tree, arms=3, regions=3, stop=0.5) == worst_cost(tree, arms=3, regions=3)
    (44.206, True)
    >>> round(worst_cost(tree, arms=3, regions=1024)) == round(theory.prior_cost(tree, [0, 1] * 512, arms=3))
    True
    """
    check_structure(structure)
    arms, regions, stop = whole("arms", arms, 1), whole("regions", regions, 1), stop_prior(stop)
    check_at_least_zero("dearer", dearer)
    if dearer == math.inf:
        return math.inf
    cost = structure.worst_cost(1 if arms == 1 else regions, reproducible_math.ln(arms) + dearer, arms, stop)
    return max(0.0, cost)


def hierarchy_bound(
    structure: Structure, *, arms: int, horizon: float, learning_rate: float, regions: int | None = None
) -> float:
    """Theorem 2: with any rate, the regret is at most A/rate + M T rate/2, A = Psi (A_R + 1) ln((H_S + 1) M).

    That is `mixture_bound` of `prior_bound`. `regions`: None is as many as `arms`.

    >>> from hsb import BinaryTree
    >>> round(hierarchy_bound(BinaryTree(depth=10), arms=3, horizon=100_000, learning_rate=0.02), 1)
    6762.7
    """
    arms, regions = check_counts(arms, regions)
    cost = prior_bound(structure, arms=arms, regions=regions)
    return mixture_bound(cost, learning_rate=learning_rate, arms=arms, horizon=horizon)


def cuts_cost(cuts: int, *, bits: int, arms: int, dearer: float = 0.0) -> float:
    """Return the cost of a rule that cuts a number at `cuts` values, on a binary tree over its `bits` leading bits; later bits may be dropped.

    ln(1/beta) counts only the ways of splitting that stop at once where a part has one arm. Of these nothing is lost if the tree looks at fewer
    bits from some round on (`docs/proofs.md`, 8). With C cuts at most min(2^d, C) nodes split on level d. Each costs ln 2; so does each part
    that is no single value of all bits; and each part costs ln M, and `dearer` more for an arm that was added.

    >>> round(cuts_cost(1, bits=24, arms=2), 1), round(cuts_cost(2, bits=24, arms=3), 1)
    (49.9, 115.8)
    """
    cuts, bits = whole("cuts", cuts, 0), whole("bits", bits, 1)
    above = sum(min(1 << level, cuts) for level in range(bits - 1))
    last = min(1 << (bits - 1), cuts)  # nodes that split on the last level: their parts are single values
    named = reproducible_math.ln(whole("arms", arms, 1)) + dearer
    return (2 * above + 1) * reproducible_math.ln(2.0) + (above + 1 + last) * named


def learning_rate(structure: Structure, *, arms: int, horizon: float, regions: int | None = None) -> float:
    """Corollary 1's rate, sqrt(2 A / (M T)) with A = Psi (A_R + 1) ln((H_S + 1) M), which is `prior_bound`.

    M is `arms`, how many there are, T is `horizon`, the number of rounds. `regions`: None is as many as `arms`.

    >>> from hsb import BinaryTree
    >>> round(learning_rate(BinaryTree(depth=10), arms=3, horizon=100_000), 5)
    0.0224
    """
    cost = prior_bound(structure, arms=arms, regions=arms if regions is None else regions)
    return mixture_rate(cost, arms=arms, horizon=horizon)


def regret_bound(structure: Structure, *, arms: int, horizon: float, regions: int | None = None) -> float:
    """Corollary 1 with the right constant: at its rate, A/rate + M T rate/2 = sqrt(2 A M T).

    Arguments as in `learning_rate`. The paper prints sqrt(A M T / 2), half of it; the algebra is one line (`docs/errata.md`).

    >>> from hsb import BinaryTree
    >>> round(regret_bound(BinaryTree(depth=10), arms=3, horizon=100_000))
    6720
    """
    check_horizon(horizon)
    cost = prior_bound(structure, arms=arms, regions=arms if regions is None else regions)
    return math.sqrt(2.0 * cost * arms * horizon)
