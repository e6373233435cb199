"""Slow, simple versions of output codes: every row is computed from all rows before it."""

from fractions import Fraction

import numpy as np


def standardised(rows: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Standardise x by the means and deviations of the rows, step by step."""
    mean, deviation = rows.mean(axis=0), rows.std(axis=0)
    return np.array([(v - m) / d if d > 0 else 0.0 for v, m, d in zip(x, mean, deviation, strict=True)])


class Machines:
    """Perceptrons, a list of weights each; `given` is (means, deviations), or None for those of the rows so far."""

    def __init__(self, columns: int, features: int, given: tuple | None = None, averaged: bool = False) -> None:
        self.weights = [np.zeros(features + 1) for _ in range(columns)]
        self.past: list[list[np.ndarray]] = [[] for _ in range(columns)]
        self.rows: list[np.ndarray] = []
        self.given, self.averaged = given, averaged

    def scaled(self, x: np.ndarray) -> np.ndarray:
        if self.given is None:
            z = standardised(np.array(self.rows), x)
        else:
            z = np.array([(v - m) / d if d > 0 else 0.0 for v, m, d in zip(x, *self.given, strict=True)])
        return np.append(z, 1.0)

    def codeword(self, x: np.ndarray) -> list[int]:
        z = self.scaled(x)
        used = [np.mean(past, axis=0) if past else np.zeros(len(z)) for past in self.past] if self.averaged else self.weights
        return [1 if float(np.dot(w, z)) > 0 else -1 for w in used]

    def learn(self, x: np.ndarray, target: list[int]) -> list[int]:
        """Predict x, then learn its target; return the prediction."""
        self.rows.append(x)
        answer = self.codeword(x)
        z = self.scaled(x)
        for k, bit in enumerate(target):
            if bit * float(np.dot(self.weights[k], z)) <= 0:
                self.weights[k] = self.weights[k] + bit * z
            self.past[k].append(self.weights[k].copy())
        return answer


def nearest(matrix: list[list[int]], word: list[int]) -> dict[int, Fraction]:
    """Return the classes that Hamming decoding with random ties may return, and the probability of each."""
    distances = [sum(a != b for a, b in zip(row, word, strict=True)) for row in matrix]
    best = [k for k, d in enumerate(distances) if d == min(distances)]
    return {k: Fraction(1, len(best)) for k in best}


def exponential_weights(losses: np.ndarray, prior: dict[tuple[int, ...], float], rate: float) -> dict[tuple[int, ...], float]:
    """Return every mapping's weight when all losses are known; `losses[cell, arm]` are the totals."""
    weights = {g: p * np.exp(-rate * sum(losses[cell, arm] for cell, arm in enumerate(g))) for g, p in prior.items()}
    total = sum(weights.values())
    return {g: w / total for g, w in weights.items()}
