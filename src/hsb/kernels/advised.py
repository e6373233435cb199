"""Whole rounds of a mixture with an advisor beside it: p = here * p_mixture + beside * 1[m = advice].

The advisor is one more expert, which weighs `beside`. That its advice changes does not matter: Theorem 1 asks only that it is fixed before
the arm is drawn. `A`, `B` are the advisor's arrays, the rest as in `rounds.py`.
"""

import math

from . import advisor, rounds
from .advisor import BESIDE, HERE
from .jit import kernel

PRIOR_HERE = 0.002  # the mixture's weight at first: the guarantee pays ln 500 / rate for it
PRIOR_BESIDE = 1.0 - PRIOR_HERE
BELOW_ONE = 1.0 - 2.0**-53


@kernel
def restart(A):
    """Both weights at their prior."""
    A[HERE], A[BESIDE] = PRIOR_HERE, PRIOR_BESIDE


@kernel
def mix(Fs, Is, Ks, t, counts, offered, p, A, advice):
    """Fill p with the probabilities of the offered arms, after `rounds.visit`."""
    here = A[HERE] * rounds.mix(Fs, Is, Ks, t, counts, offered, p)
    beside = A[BESIDE]
    total = here + beside
    for m in range(len(p)):
        p[m] *= here / total
    p[advice] += beside / total


@kernel
def draw(Fs, Is, Ks, t, counts, offered, p, u, A, advice):
    """The arm that u selects, and its probability, after `rounds.visit`."""
    if len(p) > rounds.FEW and len(offered) == 0:
        here, beside = A[HERE], A[BESIDE]
        arm = advice
        if u >= beside:
            arm = rounds.walk(Fs, Is, counts, min((u - beside) / here, BELOW_ONE))
        chance = here * rounds.propensity(Fs, Is, counts, arm)
        if arm == advice:
            chance += beside
        return arm, min(chance, 1.0)
    mix(Fs, Is, Ks, t, counts, offered, p, A, advice)
    return rounds.pick(p, u)


@kernel
def decide(Fs, Is, Ks, counts, offered, p, u, A, B, cell):
    """One decision. Changes nothing but scratch."""
    rounds.visit(Fs, Is, Ks, 0, counts)
    return draw(Fs, Is, Ks, 0, counts, offered, p, u, A, advisor.advise(A, B, cell, offered))


@kernel
def probabilities(Fs, Is, Ks, counts, offered, p, A, B, cell):
    """The distribution over arms into p. Changes nothing but scratch."""
    rounds.visit(Fs, Is, Ks, 0, counts)
    mix(Fs, Is, Ks, 0, counts, offered, p, A, advisor.advise(A, B, cell, offered))


@kernel
def _learn(Fs, Is, Ks, t, counts, offered, p, arm, loss, x, drift, visited, A, B, cell, advice):
    here, beside, same = A[HERE], A[BESIDE], arm == advice
    r = rounds.update_beside(Fs, Is, Ks, t, counts, offered, p, arm, x, drift, visited, here, beside, same)
    if math.isnan(r):
        return False
    if x > 0.0 and not (len(offered) > 0 and rounds.sole(offered)):
        here *= r
        if same:
            beside *= math.exp(-x)
        total = here + beside
        A[HERE] = (1.0 - drift) * here / total + drift * PRIOR_HERE
        A[BESIDE] = (1.0 - drift) * beside / total + drift * PRIOR_BESIDE
    advisor.learn(A, B, cell, arm, loss)
    return True


@kernel
def update(Fs, Is, Ks, counts, offered, p, arm, loss, x, drift, A, B, cell):
    """Learn one round. False, and nothing changed, where a tree is short of rows."""
    advice = advisor.advise(A, B, cell, offered)
    return _learn(Fs, Is, Ks, 0, counts, offered, p, arm, loss, x, drift, False, A, B, cell, advice)


@kernel
def simulate(Fs, Is, Ks, counts, masks, p, losses, us, rate, drift, A, B, cells, played, chances, start, end):
    """Play rounds start .. end-1 of a table; return the first round not played (a tree may be short of rows)."""
    none = masks[0][:0]
    masked = masks.shape[1] > 0
    for t in range(start, end):
        offered = masks[t] if masked and not rounds.full(masks[t]) else none
        cell = cells[t, 0]
        rounds.visit(Fs, Is, Ks, t, counts)
        advice = advisor.advise(A, B, cell, offered)
        arm, chance = draw(Fs, Is, Ks, t, counts, offered, p, us[t], A, advice)
        loss = losses[t, arm]
        x = rate * loss / chance
        if not _learn(Fs, Is, Ks, t, counts, offered, p, arm, loss, x, drift, True, A, B, cell, advice):
            return t
        played[t] = arm
        chances[t] = chance
    return end
