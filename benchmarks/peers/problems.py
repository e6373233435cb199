"""The seven problems, written to files that every environment can read. All but LandSat are synthetic."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import hsb
from hsb import ecoc, problems

Data = dict[str, Any]


def _table(problem: problems.Problem) -> Callable[[int, int], Data]:
    def make(rounds: int, seed: int) -> Data:
        contexts, losses, _ = problem.sample(rounds, seed)
        return {"contexts": contexts, "losses": losses.astype(np.uint8)}

    return make


def _reacting(rounds: int, seed: int) -> Data:
    contexts, _, expected = problems.Stationary().sample(rounds, seed)
    return {"contexts": contexts, "expected": expected, "seed": np.array(seed)}


def _landsat(rounds: int, seed: int) -> Data:
    """Six perceptrons that learn on the way turn each row into six bits. Pass after pass, each in an order of its own."""
    X, y = hsb.data.landsat()
    rng = np.random.default_rng([seed, 0x1A5A7])
    order = np.concatenate([rng.permutation(len(X)) for _ in range(-(-rounds // len(X)))])[:rounds]
    labels, index = np.unique(y, return_inverse=True)
    code = ecoc.one_versus_all(len(labels))
    codes = ecoc.Perceptrons(X.shape[1], columns=code.shape[1], scaling="online").learn(X[order], code[index[order]])
    return {"contexts": ecoc.contexts(codes), "losses": (1 - np.eye(len(labels)))[index[order]].astype(np.uint8)}


PROBLEMS: dict[str, tuple[str, Callable[[int, int], Data]]] = {
    "VI-A": ("Section VI-A: two waves and a line, 3 arms, nothing changes", _table(problems.Stationary())),
    "VI-B": ("Section VI-B: VI-A, and after a quarter of the rounds the arms change places", _table(problems.SuddenChange())),
    "LandSat": ("LandSat's six classes from codewords of six bits (real data; each seed a random order, in passes)", _landsat),
    "50 arms": ("fifty waves over one feature", _table(problems.Smooth(arms=50))),
    "two features": ("three waves over the unit square", _table(problems.TwoFeatures())),
    "adversary": (
        "VI-A against an adversary that sees the arms played: in each of 16 cells the arm played most often in the last nine visits loses "
        "with probability 0.9",
        _reacting,
    ),
    "ten changes": ("VI-A, the arms permuted anew ten times", _table(problems.Changes(count=10))),
}


def write(folder: Path, problem: str, rounds: int, seed: int) -> Path:
    """The file of a problem's rounds; made if it is not there."""
    path = folder / f"{problem.replace(' ', '-')}-{rounds}-{seed}.npz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f".{path.name}.new").open("wb") as file:
            np.savez(file, **PROBLEMS[problem][1](rounds, seed))
        Path(file.name).replace(path)
    return path
