"""The problems on which `default.py` compares policies. All synthetic.

Each is a function (seed, rounds) -> Problem, some with the number of arms as well; the same seed gives the same problem. Contexts are uniform
on [0, 1) and losses are 0 or 1 with the stated mean, independently, unless the docstring says otherwise. What is drawn at random (cuts,
phases, permutations) is drawn anew for each seed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Problem(NamedTuple):
    """Contexts, shape (T, features); losses, shape (T, M); and the expected losses given the contexts, shape (T, M)."""

    contexts: Floats
    losses: Floats
    means: Floats


def best_of_each_round(problem: Problem) -> float:
    """The average loss of who knows the model: each round the arm of least expected loss."""
    return float(problem.losses[np.arange(len(problem.means)), problem.means.argmin(axis=1)].mean())


# -- the paper's ---------------------------------------------------------------------------------------------------------


def stationary(seed: int, rounds: int) -> Problem:
    """Section VI-A. Means of the three arms at s: 1/2 + sin(2 pi s)/2, sin(pi s), s."""
    rng = _generator(seed)
    s = rng.random(rounds)
    return _binary(rng, s, _paper(s))


def change(seed: int, rounds: int) -> Problem:
    """Section VI-B: as VI-A for a quarter of the rounds; from then on arm 1 has the mean that arm 2 had, 2 that of 3, and 3 that of 1."""
    rng = _generator(seed)
    s = rng.random(rounds)
    means = _paper(s)
    means[rounds // 4 :] = means[rounds // 4 :, [1, 2, 0]]
    return _binary(rng, s, means)


# -- others that stand still ---------------------------------------------------------------------------------------------


def smooth(seed: int, rounds: int, *, arms: int) -> Problem:
    """Mean of arm m: 0.5 + 0.4 sin(2 pi (f_m s + phi_m)), f_m one of 1/2, 1, 3/2, 2 and phi_m uniform on [0, 1)."""
    rng = _generator(seed)
    s = rng.random(rounds)
    return _binary(rng, s, _waves(rng, s, arms))


def piecewise(seed: int, rounds: int, *, arms: int) -> Problem:
    """Seven cuts, uniform on [0, 1), make eight intervals; in each, every arm has a mean uniform on [0.1, 0.9)."""
    rng = _generator(seed)
    s = rng.random(rounds)
    cuts = np.sort(rng.random(7))
    return _binary(rng, s, rng.uniform(0.1, 0.9, (8, arms))[np.searchsorted(cuts, s)])


def two_features(seed: int, rounds: int) -> Problem:
    """Contexts (x, y) uniform on the square; three arms, means 0.5 + 0.4 sin(2 pi (f x + g y + phi)), f and g one of -1, -1/2, 1/2, 1."""
    rng = _generator(seed)
    points = rng.random((rounds, 2))
    waves = rng.choice([-1.0, -0.5, 0.5, 1.0], (2, 3))
    return _binary(rng, points, 0.5 + 0.4 * np.sin(2 * np.pi * (points @ waves + rng.random(3))))


def not_binary(seed: int, rounds: int) -> Problem:
    """Three arms; means as in `smooth`, scaled to [0.2, 0.8]; the loss is the mean plus noise uniform on [-0.2, 0.2]."""
    rng = _generator(seed)
    s = rng.random(rounds)
    means = 0.2 + 0.75 * (_waves(rng, s, 3) - 0.1)
    return Problem(s[:, None], np.clip(means + rng.uniform(-0.2, 0.2, means.shape), 0.0, 1.0), means)


def near_one(seed: int, rounds: int) -> Problem:
    """Ten arms; means as in `smooth`, scaled to [0.92, 0.98]: rewards that are rare whatever is played, as clicks are."""
    rng = _generator(seed)
    s = rng.random(rounds)
    return _binary(rng, s, 0.98 - 0.075 * (_waves(rng, s, 10) - 0.1))


def clicks(seed: int, rounds: int) -> Problem:
    """25 arms; no loss, a click, with probability min(0.5, 0.04 exp(a_m + 0.35 sin(2 pi (f_m s + h_m)))): a_m normal with deviation 0.35,
    f_m one of 1/2, 1, 3/2 and h_m uniform on [0, 1)."""
    rng = _generator(seed)
    s = rng.random(rounds)
    level, frequencies, phases = rng.normal(0.0, 0.35, 25), rng.choice([0.5, 1.0, 1.5], 25), rng.random(25)
    rates = 0.04 * np.exp(level + 0.35 * np.sin(2 * np.pi * (np.outer(s, frequencies) + phases)))
    return _binary(rng, s, 1.0 - np.minimum(0.5, rates))


def in_order(seed: int, rounds: int) -> Problem:
    """VI-A, but the contexts come in increasing order: what was learned on the left never helps again."""
    rng = _generator(seed)
    s = np.sort(rng.random(rounds))
    return _binary(rng, s, _paper(s))


# -- others that change --------------------------------------------------------------------------------------------------


def slow_drift(seed: int, rounds: int) -> Problem:
    """`smooth` with three arms whose phases make one full turn in the course of the run, the second against the other two."""
    rng = _generator(seed)
    s = rng.random(rounds)
    return _binary(rng, s, _waves(rng, s, 3, np.outer(np.arange(rounds) / rounds, [1.0, -1.0, 1.0])))


def ten_changes(seed: int, rounds: int) -> Problem:
    """VI-A in eleven stretches of equal length, each with the arms permuted at random, never as in the stretch before."""
    rng = _generator(seed)
    s = rng.random(rounds)
    means = _paper(s)
    before = None
    for k in range(11):
        order = rng.permutation(3)
        while before is not None and (order == before).all():
            order = rng.permutation(3)
        part = slice(k * rounds // 11, (k + 1) * rounds // 11)
        means[part] = means[part][:, order]
        before = order
    return _binary(rng, s, means)


def local_change(seed: int, rounds: int) -> Problem:
    """VI-A; after half of the rounds the arms change places as in VI-B, but only where s < 1/4."""
    rng = _generator(seed)
    s = rng.random(rounds)
    means = _paper(s)
    changed = (np.arange(rounds) >= rounds // 2) & (s < 0.25)
    means[changed] = means[changed][:, [1, 2, 0]]
    return _binary(rng, s, means)


def silent_improvement(seed: int, rounds: int) -> Problem:
    """Means 0.3, 0.5, 0.6 whatever s; after half of the rounds the second is 0.1. Who plays the first arm only never sees it."""
    rng = _generator(seed)
    s = rng.random(rounds)
    means = np.tile([0.3, 0.5, 0.6], (rounds, 1))
    means[rounds // 2 :, 1] = 0.1
    return _binary(rng, s, means)


# -- adversaries that see the advice, not the draw -----------------------------------------------------------------------

Adversary = Callable[[np.random.Generator, Floats, int], Floats]
"""(generator, the means of VI-A at this context, the advised arm) -> the losses of this round."""


def lure(rng: np.random.Generator, means: Floats, advice: int) -> Floats:
    """Arm 1 loses with probability 0.45; the others with 0.9 when advised, else 0.1."""
    chance = np.full(len(means), 0.1)
    chance[advice] = 0.9
    chance[0] = 0.45
    return _flips(rng, chance)


def contradict(rng: np.random.Generator, means: Floats, advice: int) -> Floats:
    """The advised arm loses with probability 0.9, the others as in VI-A."""
    chance = means.copy()
    chance[advice] = 0.9
    return _flips(rng, chance)


def contradict_but_one(rng: np.random.Generator, means: Floats, advice: int) -> Floats:
    """The same, but arm 1 is always as in VI-A."""
    return contradict(rng, means, advice) if advice > 0 else _flips(rng, means)


def spite(rng: np.random.Generator, means: Floats, advice: int) -> Floats:
    """The advised arm loses 1, all others 0."""
    return (np.arange(len(means)) == advice).astype(np.float64)


# -- inside --------------------------------------------------------------------------------------------------------------


def _generator(seed: int) -> np.random.Generator:
    """Not the one that a policy with the same seed draws from."""
    return np.random.default_rng([seed, 0xDA7A])


def _paper(s: Floats) -> Floats:
    return np.column_stack([0.5 + 0.5 * np.sin(2 * np.pi * s), np.sin(np.pi * s), s])


def _waves(rng: np.random.Generator, s: Floats, arms: int, turn: Floats | float = 0.0) -> Floats:
    frequencies, phases = rng.choice([0.5, 1.0, 1.5, 2.0], arms), rng.random(arms)
    return 0.5 + 0.4 * np.sin(2 * np.pi * (np.outer(s, frequencies) + phases + turn))


def _binary(rng: np.random.Generator, contexts: Floats, means: Floats) -> Problem:
    return Problem(contexts.reshape(len(contexts), -1), _flips(rng, means), means)


def _flips(rng: np.random.Generator, chance: Floats) -> Floats:
    return (rng.random(chance.shape) < chance).astype(np.float64)
