"""The page's figures, computed slowly and plainly: one update after the other, no arrays."""

import math

STAKES = [2.0**k for k in range(1, -19, -1)]


def lower(terms_by_stake, n, error, most=1.0):
    """The smallest mean that is not ruled out, by trying; terms_by_stake[j] are the terms that stake j is bet on."""

    def won(mean):
        gains = []
        for stake, terms in zip(STAKES, terms_by_stake, strict=True):
            gains.append(
                sum(math.log(1.0 + stake * x) for x in terms) - n * math.log(1.0 + stake * mean) - math.log(len(STAKES))
            )
        top = max(gains)
        return top + math.log(sum(math.exp(gain - top) for gain in gains))

    if won(0.0) <= -math.log(error):
        return 0.0
    low, high = 0.0, most
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if won(middle) > -math.log(error) else (low, middle)
    return low


def controlled(term, w, guess, most):
    """Return the terms that each stake is bet on."""
    return [term - guess * (w - 1.0) if stake * guess * max(most - 1.0, 0.0) <= 0.5 else term for stake in STAKES]


def bands(updates, rule, error=0.05):
    """Return the rule's value and interval, and those of the policy less the rule.

    Updates are (arm, p, r in [0, 1], available, least p); rule(arm, available) is the rule's probability, or None."""
    up, down, gain, loss, n = [], [], [], [], 0
    seen = reward = value = difference = 0.0
    for arm, p, r, available, least in updates:
        guess = (reward + 0.5) / (seen + 1.0)
        seen, reward = seen + 1.0, reward + r
        probability = rule(arm, available)
        if probability is None:
            continue
        w, largest = probability / p, max(rule(each, available) for each in available) / least if least > 0.0 else math.inf
        n, value, difference = n + 1, value + w * r, difference + r - w * r
        up.append(controlled(w * r, w, guess, largest))
        down.append(controlled(w * (1.0 - r), w, 1.0 - guess, largest))
        gain.append(controlled(r + w * (1.0 - r), w, 1.0 - guess, largest))
        loss.append(controlled(1.0 - r + w * r, w, guess, largest))
    across = [[list(column) for column in zip(*terms, strict=True)] for terms in (up, down, gain, loss)]
    low, high = lower(across[0], n, error / 2), 1.0 - lower(across[1], n, error / 2)
    less, more = lower(across[2], n, error / 2, 2.0) - 1.0, 1.0 - lower(across[3], n, error / 2, 2.0)
    return (value / n, low, high), (difference / n, less, more)


def shares(stamps, arms, width, count):
    """Return the share of each arm in each phase of time."""
    values = {}
    for at, arm in zip(stamps, arms, strict=True):
        values.setdefault(at // width, []).append(arm)
    return [[some.count(k) / len(some) for k in range(count)] for _, some in sorted(values.items())]


def within(values, tenths):
    """Return the smallest value that the given tenths of all values do not exceed, by trying each."""
    return min(value for value in values if 10 * sum(other <= value for other in values) >= tenths * len(values))
