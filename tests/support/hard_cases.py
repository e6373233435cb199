"""Helpers of `tests/engine/kernels/test_hard.py`, shared with other tests."""

import numpy as np
import numpy.typing as npt
from naive import mixture as naive

import hsb
from support.structure_cases import Array, Case

ARMS = 3


# Relative, on probabilities. A round rounds a weight once and the oracle's sum once, each to 2^-53 of itself: with sums up to 1e6 and
# 1e6 rounds a leaf, errors that add as they come (their root, not their number) make 1e6 * 2^-53 * 1e3 = 1e-7. Seen: 1e-9.
CLOSE = 1e-7


class Oracle:
    """The penalties of all rounds so far."""

    def __init__(self, case: Case, arms: int = ARMS) -> None:
        self.shape = case.shape
        self.penalties = np.zeros((case.shape.leaves, arms))

    def learn(self, leaf: npt.ArrayLike, arm: npt.ArrayLike, x: npt.ArrayLike) -> None:
        np.add.at(self.penalties, (np.asarray(leaf), np.asarray(arm)), np.asarray(x))
        self.penalties -= self.penalties.min(axis=1, keepdims=True)  # changes no probability

    def learn_masked(self, leaf: int, arm: int, x: float, available: list[int]) -> None:
        """Learn with some arms available: those are multiplied by a c that keeps their total; a single one stays."""
        if len(available) > 1:
            before = np.array([self.log_gamma(leaf, m) for m in available])
            after = before - x * (np.array(available) == arm)
            self.penalties[leaf, available] += np.logaddexp.reduce(after) - np.logaddexp.reduce(before)
            self.learn(leaf, arm, x)

    def log_gamma(self, leaf: int, arm: int) -> float:
        """ln of eq. (13) at the root: w of (9), with every other arm made impossible at this leaf."""
        penalties = self.penalties.copy()
        penalties[leaf, np.arange(penalties.shape[1]) != arm] = np.inf
        log_w: dict[naive.Node, float] = {}
        for i in self.shape.children_first:
            stop, splits = self.shape.options(i)
            log_alpha = np.logaddexp.reduce(-penalties[sorted(self.shape.regions[i])].sum(axis=0))
            terms = [naive._log(stop / penalties.shape[1]) + log_alpha]
            terms += [naive._log(share) + sum(log_w[j] for j in group) for share, group in splits]
            log_w[i] = float(np.logaddexp.reduce(terms))
        return log_w[self.shape.root]

    def probabilities(self, leaf: int, available: list[int] | None = None) -> Array:
        p: Array = naive.final_probabilities(self.shape, self.penalties)[leaf]
        if available is not None:
            logs = np.array([self.log_gamma(leaf, m) for m in available])
            p = np.zeros(len(p))
            p[available] = np.exp(logs - np.logaddexp.reduce(logs))
        return p


def agree(p: Array, q: Array, tolerance: float) -> None:
    """Check relative equality. Values below 1e-60 of the available arms' total count as 0."""
    assert np.isfinite(p).all() and (p >= 0).all()
    assert abs(p.sum() - 1) < 1e-12
    seen = q > 1e-60
    assert (np.abs(p[seen] / q[seen] - 1) < tolerance).all(), (p, q)
    assert (p[~seen] < 1e-59).all()


def check(case: Case, policy: hsb.HSB, oracle: Oracle, tolerance: float = CLOSE) -> None:
    """Check every leaf, also with the best arm not available."""
    for leaf, context in enumerate(case.middles):
        p, q = policy.probabilities(context), oracle.probabilities(leaf)
        agree(p, q, tolerance)
        others = [m for m in range(len(q)) if m != int(np.argmax(q))]
        agree(policy.probabilities(context, available=others), oracle.probabilities(leaf, others), tolerance)


def told(policy: hsb.HSB, oracle: Oracle, case: Case, leaf: int, arm: int, x: float) -> None:
    """Teach both a step of x for one arm in one leaf; the rate is 1."""
    policy.learn(hsb.Decision(context=case.middles[leaf], arm=arm, propensity=min(1.0, 1 / x)), loss=min(1.0, x))
    oracle.learn(leaf, arm, x)
