"""Differences between two candidates, written plainly, event by event: the slow version of `hsb.evaluate.compare_off_policy`."""

import math

from naive import off_policy as naive


def fixed(batches, distribution):
    """Rows as `naive_off_policy.rows_of` has them, for a candidate whose distribution over the available arms is given; None: cannot play."""
    rows = []
    for batch in batches:
        for i in range(len(batch)):
            available = [batch.arms[a] for a in range(len(batch.arms)) if batch.available[i, a]]
            rows.append(
                {
                    "features": batch.contexts[i],
                    "arm": batch.arms[batch.arm[i]],
                    "reward": float(batch.reward[i]),
                    "propensity": float(batch.propensity[i]),
                    "policy": distribution(batch.contexts[i], available),
                    "fold": len(rows) % naive.FOLDS,
                }
            )
    return rows


def terms(rows, predict):
    """Return one dict for each event: w, w r, and the doubly robust term; None if the candidate cannot play."""
    results = []
    for row in rows:
        if not row["policy"]:
            results.append(None)
            continue
        w = row["policy"].get(row["arm"], 0.0) / row["propensity"]
        d = sum(p * predict(row, arm) for arm, p in row["policy"].items())
        results.append({"w": w, "ips": w * row["reward"], "dr": d + w * (row["reward"] - predict(row, row["arm"]))})
    return results


def difference(mine, other, estimator):
    """Return the difference's value over the events that both can play, and their number."""
    both = [(a, b) for a, b in zip(mine, other, strict=True) if a is not None and b is not None]
    if estimator == "snips":
        value = sum(a["ips"] for a, _ in both) / sum(a["w"] for a, _ in both)
        return value - sum(b["ips"] for _, b in both) / sum(b["w"] for _, b in both), len(both)
    return sum(a[estimator] - b[estimator] for a, b in both) / len(both), len(both)


def safe(mine, other, error=0.025):
    """The safe interval of a difference of rewards in [0, 1], from the two candidates' rows."""
    X, Y, apart = [], [], 0.0
    for a, b in zip(mine, other, strict=True):
        if not a["policy"] or not b["policy"]:
            continue
        v = (a["policy"].get(a["arm"], 0.0) - b["policy"].get(b["arm"], 0.0)) / a["propensity"]
        r = a["reward"] if v > 0 else 1 - a["reward"]
        X.append(abs(v) * r)
        Y.append(abs(v) * (1 - r))
        arms = {*a["policy"], *b["policy"]}
        apart += sum(abs(a["policy"].get(arm, 0.0) - b["policy"].get(arm, 0.0)) for arm in arms) / 2
    apart /= len(X)
    return max(_lower(X, error) - apart, -apart), min(apart - _lower(Y, error), apart)


def _lower(terms, error):
    n, stakes = len(terms), [2.0**k for k in range(1, -19, -1)]
    shares = [math.exp(-0.5 * (math.log(stake * math.sqrt(n) / 2.5) / 1.5) ** 2) for stake in stakes]
    won = [sum(math.log(1 + stake * x) for x in terms) for stake in stakes]

    def wealth(mean):
        powers = [w - n * math.log(1 + k * mean) for w, k in zip(won, stakes, strict=True)]
        return sum(share / sum(shares) * math.exp(power) for share, power in zip(shares, powers, strict=True))

    low, high = 0.0, 2.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if wealth(middle) > 1 / error else (low, middle)
    return low
