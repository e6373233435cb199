"""Off-policy estimators written plainly, row by row, from their formulas: the slow version of `hsb.evaluate.off_policy`."""

import math

import numpy as np

FOLDS = 5


def rows_of(policy, batches, context=lambda row: float(row[0])):
    """One dict per event: what was shown, and the policy's own distribution by arm label."""
    rows = []
    for batch in batches:
        for i in range(len(batch)):
            available = [batch.arms[a] for a in range(len(batch.arms)) if batch.available[i, a]]
            playable = [arm for arm in available if arm in policy.active_arms]
            probabilities = policy.probabilities(context(batch.contexts[i]), available=playable)
            rows.append(
                {
                    "features": batch.contexts[i],
                    "arm": batch.arms[batch.arm[i]],
                    "reward": float(batch.reward[i]),
                    "propensity": float(batch.propensity[i]),
                    "policy": {arm: float(p) for arm, p in zip(policy.arms, probabilities, strict=True) if p > 0},
                    "fold": len(rows) % FOLDS,
                }
            )
    return rows


def ridge(rows, first):
    """For each fold and arm, a function of features: fitted on the other folds. Scaled by the first `first` rows."""
    head = np.array([row["features"] for row in rows[:first]])
    centre, spread = head.mean(axis=0), head.std(axis=0)
    spread[spread == 0] = 1.0

    def expand(features):
        return np.concatenate([[1.0], (features - centre) / spread])

    fits = {}
    for fold in range(FOLDS):
        others = [row for row in rows if row["fold"] != fold]
        mean = sum(row["reward"] for row in others) / len(others)
        for arm in {row["arm"] for row in rows}:
            A = np.eye(1 + len(centre))
            b = np.zeros(1 + len(centre))
            for row in others:
                if row["arm"] == arm:
                    x = expand(row["features"])
                    A += np.outer(x, x)
                    b += x * (row["reward"] - mean)
            fits[fold, arm] = (mean, np.linalg.inv(A) @ b)

    def predict(row, arm):
        mean, weights = fits[row["fold"], arm]
        return min(max(mean + float(expand(row["features"]) @ weights), 0.0), 1.0)

    return predict


def cells(rows, depth):
    """The same with averages in the 2^depth equal cells of the first feature."""

    def predict(row, arm):
        others = [other for other in rows if other["fold"] != row["fold"]]
        mean = sum(other["reward"] for other in others) / len(others)
        same = [other for other in others if other["arm"] == arm]
        of_arm = (sum(other["reward"] for other in same) + mean) / (len(same) + 1)
        here = [o["reward"] for o in same if int(o["features"][0] * 2**depth) == int(row["features"][0] * 2**depth)]
        return (sum(here) + of_arm) / (len(here) + 1)

    return predict


def values(rows, predict, clip):
    """Every estimator's value, and the effective sample size."""
    n = len(rows)
    sums = dict.fromkeys(("ips", "direct", "dr", "switch", "clipped"), 0.0)
    weights = squares = 0.0
    for row in rows:
        w = row["policy"].get(row["arm"], 0.0) / row["propensity"]
        r = row["reward"]
        d = sum(p * predict(row, arm) for arm, p in row["policy"].items())
        q = predict(row, row["arm"])
        weights += w
        squares += w**2
        sums["ips"] += w * r
        sums["clipped"] += min(w, clip) * r
        sums["direct"] += d
        sums["dr"] += d + w * (r - q)
        sums["switch"] += d + (w * (r - q) if w <= clip else 0.0)
    table_of_values = {name: total / n for name, total in sums.items()}
    return table_of_values | {"snips": sums["ips"] / weights}, weights**2 / squares


def safe(weights, rewards, error=0.025):
    """The interval by bets, from products over the rows in logarithms: a stake at a time, by a fine search."""
    n, stakes = len(weights), [2.0**k for k in range(1, -19, -1)]
    shares = [math.exp(-0.5 * (math.log(stake * math.sqrt(n) / 2.5) / 1.5) ** 2) for stake in stakes]

    def lower(terms):
        won = [sum(math.log(1 + stake * x) for x in terms) for stake in stakes]

        def wealth(mean):
            gains = [
                share / sum(shares) * math.exp(w - n * math.log(1 + k * mean))
                for share, w, k in zip(shares, won, stakes, strict=True)
            ]
            return sum(gains)

        low, high = 0.0, 1.0
        while high - low > 1e-12:
            middle = (low + high) / 2
            low, high = (middle, high) if wealth(middle) > 1 / error else (low, middle)
        return low

    pairs = list(zip(weights, rewards, strict=True))
    return lower([w * r for w, r in pairs]), 1 - lower([w * (1 - r) for w, r in pairs])


def unseen(weights):
    """Return a bound on the missing weight."""
    return min(max(1 - sum(weights) / len(weights), 0.0), 4 * max(weights) / len(weights))


def normal(terms):
    """Mean and two errors either side."""
    half = 1.96 * np.std(terms) / math.sqrt(len(terms))
    return np.mean(terms) - half, np.mean(terms) + half


def bootstrap_t(numerators, denominators, seed, draws=2000):
    """A studentised bootstrap interval of sum(numerators) / sum(denominators), one resample at a time, with its own random numbers."""
    rng = np.random.default_rng(seed)
    n, S, N = len(numerators), np.array(numerators), np.array(denominators)

    def fit(s, m):
        ratio = s.sum() / m.sum()
        return ratio, math.sqrt(((s - ratio * m) ** 2).sum()) / m.sum()

    centre, error = fit(S, N)
    ts = []
    for _ in range(draws):
        chosen = rng.integers(0, n, n)
        again, spread = fit(S[chosen], N[chosen])
        ts.append((again - centre) / spread)
    ts.sort()
    return centre - ts[int(0.975 * draws)] * error, centre - ts[int(0.025 * draws)] * error
