"""Multinomial logistic regression by its definition: one row and one class at a time, and small steps downhill."""

import math

import numpy as np


def probabilities(x, W, available):
    """The probability of each class of a row."""
    powers = [math.exp(sum(x[j] * W[j][k] for j in range(len(x)))) if available[k] else 0.0 for k in range(len(available))]
    return [power / sum(powers) for power in powers]


def loss(X, y, available, W, penalty, of_constant):
    """Return the objective to minimise."""
    likelihood = sum(math.log(probabilities(X[i], W, available[i])[y[i]]) for i in range(len(y)))
    squares = [(of_constant if j == 0 else penalty) * W[j][k] ** 2 for j in range(len(W)) for k in range(len(W[0]))]
    return -likelihood + sum(squares) / 2


def slope(X, y, available, W, penalty, of_constant):
    """Return the gradient of the objective, by differences."""
    result = np.zeros(np.shape(W))
    for j in range(len(W)):
        for k in range(len(W[0])):
            ends = []
            for step in (1e-5, -1e-5):
                moved = np.array(W, dtype=float)
                moved[j, k] += step
                ends.append(loss(X, y, available, moved, penalty, of_constant))
            result[j, k] = (ends[0] - ends[1]) / 2e-5
    return result


def calibration(predicted, shown, bins=10):
    """Return the average gap between predicted and observed, over bins of equal size (the first ones one larger)."""
    order = sorted(range(len(predicted)), key=lambda i: predicted[i])
    gap, at = 0.0, 0
    for k in range(bins):
        size = len(order) // bins + (k < len(order) % bins)
        part = order[at : at + size]
        at += size
        gap += abs(sum(predicted[i] for i in part) - sum(shown[i] for i in part))
    return gap / len(order)
