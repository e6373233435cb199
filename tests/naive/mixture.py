"""Slow, simple versions of the algorithm, to compare the kernels with.

Notation is the paper's (Sections III and IV): node i has a region r_i, a set of leaves,
and a set Phi_i of child groups phi, each of which partitions r_i; M arms, N leaves.
Contexts are given as leaves and feedback as x = eta * loss / propensity, so that two
implementations can be compared on the same rounds: nothing here draws an arm.

Learners recompute everything at each call in plain floats, which underflow after a
total x of about 700. The functions of penalties work on logarithms and take any x:
penalties[leaf, m] is the sum of x over all rounds with that leaf and that arm.
"""

import math
from collections.abc import Collection, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

from naive.hierarchies import (
    Array,
    Hierarchy,
    Node,
    arbitrary_splits,
    binary_tree,
    grouped_lexicographic,
    kary_tree,
    lexicographic,
    one_of,
    position_splits,
    random_hierarchy,
    with_stop,
)

__all__ = [
    "Hierarchy",
    "Mixture",
    "Recursion",
    "arbitrary_splits",
    "binary_tree",
    "exp3",
    "final_probabilities",
    "grouped_lexicographic",
    "kary_tree",
    "lexicographic",
    "mapping_prior",
    "most_probable",
    "one_of",
    "position_splits",
    "random_hierarchy",
    "s_exp3",
    "with_stop",
]

Available = Collection[int] | None
Piece = tuple[frozenset[int], int]


def _awake(available: Available, arms: int) -> npt.NDArray[np.bool_]:
    """Which arms are available: all, or those given by number (or by a mask)."""
    awake = np.full(arms, available is None)
    if available is not None:
        awake[list(available)] = True
    return awake


def _normalised(weights: Array) -> Array:
    shares: Array = weights / weights.sum()
    return shares


class Recursion:
    """Algorithm 1: alpha at every node, then w and gamma from the leaves to the root."""

    def __init__(self, hierarchy: Hierarchy, arms: int, drift: float = 0.0) -> None:
        self.hierarchy = hierarchy
        self.arms = arms
        self.drift = drift
        self.alpha = {i: np.ones(arms) for i in hierarchy.regions}
        self.normaliser = arms  # the M of "1/M" in (9) and (13); see add_arm

    def w(self) -> dict[Node, float]:
        """Eq. (9): w_i = stop (1/M) sum_m alpha_mi + sum_phi prior_phi prod_j w_j."""
        w: dict[Node, float] = {}
        for i in self.hierarchy.children_first:
            stop, splits = self.hierarchy.options(i)
            w[i] = stop * self.alpha[i].sum() / self.normaliser
            for share, group in splits:
                w[i] += share * math.prod(w[j] for j in group)
        return w

    def gamma(self, leaf: int) -> dict[Node, Array]:
        """Eq. (13), at the nodes that contain the leaf: w with gamma_mj for w_j at those."""
        w = self.w()
        gamma: dict[Node, Array] = {}
        for i in self.hierarchy.containing(leaf):
            stop, splits = self.hierarchy.options(i)
            gamma[i] = stop * self.alpha[i] / self.normaliser
            for share, group in splits:
                factors = [gamma[j] if j in gamma else np.full(self.arms, w[j]) for j in group]
                gamma[i] += share * np.prod(factors, axis=0)
        return gamma

    def probabilities(self, leaf: int, available: Available = None) -> Array:
        """Eq. (14): p_m = gamma_m / w at the root, renormalised over the available arms."""
        root = self.hierarchy.root
        p = self.gamma(leaf)[root] / self.w()[root]
        return p if available is None else _normalised(p * _awake(available, self.arms))

    def learn(self, leaf: int, arm: int, x: float, available: Available = None) -> None:
        """Eq. (8): multiply alpha by exp(-x) for `arm` at every node that contains the leaf.

        With `available`, each available arm is also multiplied by c, such that their total
        weight at the root is kept; the other arms sleep. With `drift`, the arms of these nodes
        then share that part of their weight.
        """
        if x == 0:
            return
        factor = np.ones(self.arms)
        factor[arm] = math.exp(-x)
        if available is not None:
            awake = _awake(available, self.arms)
            if awake.sum() == 1:
                return  # c exp(-x) = 1
            factor[awake] /= (self.probabilities(leaf, available) * factor).sum()
        self.multiply(leaf, factor)

    def multiply(self, leaf: int, factor: Array) -> None:
        """Multiply alpha at every node that contains the leaf, then share."""
        for i in self.hierarchy.containing(leaf):
            alpha = self.alpha[i] * factor
            self.alpha[i] = (1 - self.drift) * alpha + self.drift * alpha.mean()

    def add_arm(self) -> None:
        """Give a new arm 1 / (M + 1) of every node's arm mass, the others M / (M + 1).

        sum_m alpha_mi does not change, so the normaliser stays what it was.
        """
        for i, alpha in self.alpha.items():
            self.alpha[i] = np.append(alpha * self.arms, alpha.sum()) / (self.arms + 1)
        self.arms += 1

    def flatten(self, r: float) -> None:
        """The rate falls by r: prior^(1-r) weight^r for every way of splitting with its arms, up to a common scale."""
        for i, alpha in self.alpha.items():
            self.alpha[i] = self.normaliser * self.arms ** (r - 1) * (alpha / self.normaliser) ** r


class Mixture:
    """Section III: all M^N mappings, each an expert with prior weight beta_1. Tiny N, M only."""

    def __init__(self, hierarchy: Hierarchy, arms: int) -> None:
        self.arms = arms
        self.mappings = np.array(list(product(range(arms), repeat=hierarchy.leaves)))
        self.beta = np.array([mapping_prior(hierarchy, arms, g) for g in self.mappings.tolist()])
        self.prior = self.beta.copy()

    def probabilities(self, leaf: int, available: Available = None) -> Array:
        """Eq. (3), over the experts whose arm at this leaf is available."""
        choice = self.mappings[:, leaf]
        p = np.array([self.beta[choice == m].sum() for m in range(self.arms)])
        return _normalised(p * _awake(available, self.arms))

    def learn(self, leaf: int, arm: int, x: float, available: Available = None) -> None:
        """Eq. (4); with `available`, the total weight of the experts awake is kept."""
        choice = self.mappings[:, leaf]
        awake = _awake(available, self.arms)[choice]
        before = self.beta[awake].sum()
        self.beta[choice == arm] *= math.exp(-x)
        if available is not None:
            self.beta[awake] *= before / self.beta[awake].sum()

    def flatten(self, r: float) -> None:
        """The rate falls by r: prior^(1-r) beta^r, of beta that sum to 1, and then they sum to 1 again."""
        self.beta = _normalised(self.prior ** (1 - r) * _normalised(self.beta) ** r)


def mapping_prior(hierarchy: Hierarchy, arms: int, mapping: Sequence[int]) -> float:
    """Prior beta_1 of a mapping (Appendix B): as w, with 1{constant on r_i} for sum_m alpha."""
    beta: dict[Node, float] = {}
    for i in hierarchy.children_first:
        stop, splits = hierarchy.options(i)
        constant = len({mapping[leaf] for leaf in hierarchy.regions[i]}) == 1
        beta[i] = stop / arms if constant else 0.0
        for share, group in splits:
            beta[i] += share * math.prod(beta[j] for j in group)
    return beta[hierarchy.root]


def _log(probability: float) -> float:
    """Natural logarithm, with log 0 = -inf for an option of prior 0."""
    return math.log(probability) if probability > 0 else -math.inf


def _log_alpha(hierarchy: Hierarchy, penalties: Array) -> dict[Node, Array]:
    """Eq. (7): log alpha_mi = - the sum of penalties over the leaves of node i."""
    return {i: -penalties[sorted(r)].sum(axis=0) for i, r in hierarchy.regions.items()}


def final_probabilities(hierarchy: Hierarchy, penalties: npt.ArrayLike) -> Array:
    """Eqs. (7), (9), (13) and (14) on logarithms: array (N, M), p of every leaf.

    Each mapping takes one arm at each leaf, so a constant taken off a row of
    penalties changes no probability. With the smallest at zero, -log w is at most the
    prior cost of the best arm at every leaf: large penalties cost no accuracy, as long
    as the prior (no stop of 1) lets every mapping be.
    """
    total = np.asarray(penalties, dtype=np.float64)
    arms = total.shape[1]
    log_alpha = _log_alpha(hierarchy, total - total.min(axis=1, keepdims=True))
    log_w: dict[Node, float] = {}
    for i in hierarchy.children_first:
        stop, splits = hierarchy.options(i)
        log_w[i] = _log(stop) - math.log(arms) + float(np.logaddexp.reduce(log_alpha[i]))
        for share, group in splits:
            term = _log(share) + sum(log_w[j] for j in group)
            log_w[i] = float(np.logaddexp(log_w[i], term))
    p = np.empty((hierarchy.leaves, arms))
    for leaf in range(hierarchy.leaves):
        log_gamma: dict[Node, Array] = {}
        for i in hierarchy.containing(leaf):
            stop, splits = hierarchy.options(i)
            log_gamma[i] = _log(stop) - math.log(arms) + log_alpha[i]
            for share, group in splits:
                terms = [log_gamma[j] if j in log_gamma else np.full(arms, log_w[j]) for j in group]
                log_gamma[i] = np.logaddexp(log_gamma[i], _log(share) + np.sum(terms, axis=0))
        p[leaf] = np.exp(log_gamma[hierarchy.root] - log_w[hierarchy.root])
    return p


def exp3(penalties: npt.ArrayLike) -> Array:
    """EXP3 on one row of penalties: probabilities proportional to exp(-penalties)."""
    total = np.asarray(penalties, dtype=np.float64)
    return _normalised(np.exp(total.min() - total))


def s_exp3(penalties: npt.ArrayLike) -> Array:
    """S-EXP3: a separate EXP3 at each leaf; penalties and result are (N, M)."""
    return np.array([exp3(row) for row in np.asarray(penalties)])


def most_probable(hierarchy: Hierarchy, penalties: npt.ArrayLike) -> tuple[list[Piece], float]:
    """The heaviest way to stop and choose arms: max for sum in (9), on logarithms.

    Returns its pieces, as (leaves, arm), and its log weight. Of equals, the first
    is taken: stopping before splitting, lower arms and earlier groups first.
    """
    total = np.asarray(penalties, dtype=np.float64)
    arms = total.shape[1]
    log_alpha = _log_alpha(hierarchy, total)
    best: dict[Node, tuple[list[Piece], float]] = {}
    for i in hierarchy.children_first:
        stop, splits = hierarchy.options(i)
        arm = int(np.argmax(log_alpha[i]))
        value = _log(stop) - math.log(arms) + float(log_alpha[i][arm])
        pieces = [(hierarchy.regions[i], arm)]
        for share, group in splits:
            candidate = _log(share) + sum(best[j][1] for j in group)
            if candidate > value:
                value, pieces = candidate, [piece for j in group for piece in best[j][0]]
        best[i] = pieces, value
    return best[hierarchy.root]
