"""A world of visitors and banners, and the log that a cautious marketing rule wrote of it: what training from a log is measured on.

Twenty mixed columns (numbers, counts, text, yes and no, dates as text, codes, postcodes, gaps), six banners, clicks between 2 % and 40 %,
a softmax logger with propensities down to .005. Synthetic, so that the true value of every policy is known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

BANNERS = ["sale", "app", "film", "gift", "club", "news"]
COLUMNS = {"arm": "shown", "propensity": "p", "reward": "click"}
SENSIBLE = ["age", "country", "device", "hour", "is_member", "newsletter", "score", "segment_code", "spend"]
COUNTRIES, SHARES = ["US", "DE", "GB", "FR", "IT", "ES", "PL", "NL"], [0.28, 0.2, 0.14, 0.12, 0.1, 0.08, 0.05, 0.03]
DEVICES = ["ios", "android", "web"]
CAMPAIGNS = ["spring", "brand", "search", "social", "none"]
LEAST = 0.005  # of the logger's propensities
ZIPS = 100_000


class Visitors(NamedTuple):
    """Columns by name, and how probable a click is on each banner."""

    table: dict[str, Any]
    probabilities: np.ndarray


class World:
    """What visitors like, and what the logger believes they do; both drawn from the seed."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng([seed, 1])
        arms = len(BANNERS)
        self.base = np.array([-3.1, -3.2, -2.85, -3.3, -3.2, -3.3]) + rng.normal(0.0, 0.05, arms)
        self.country = rng.normal(0.0, 0.45, (len(COUNTRIES), arms))
        self.device = rng.normal(0.0, 0.4, (len(DEVICES), arms))
        self.segment = rng.normal(0.0, 0.3, (12, arms))
        self.member, self.letter = rng.normal(0.0, 0.4, arms), rng.normal(0.0, 0.25, arms)
        self.slopes = rng.normal(0.0, 0.35, (3, arms))  # of age, spend and score
        self.day = rng.normal(0.0, 0.3, (2, arms))
        self.bend = rng.normal(0.0, 0.2, arms)  # of age squared
        self.pair = rng.normal(0.0, 0.35, arms)  # members with high scores
        self.belief = rng.normal(0.0, 0.8, (4, arms)) + np.array([0.0, 0.0, 0.8, -0.8, 0.2, 0.0]) / 2

    def visitors(self, rows: int, seed: int) -> Visitors:
        """So many visitors, `shown`, `p` and `click` among their columns."""
        rng = np.random.default_rng([seed, 2])
        country, device = rng.choice(len(COUNTRIES), rows, p=SHARES), rng.choice(3, rows, p=[0.4, 0.35, 0.25])
        member, letter = rng.random(rows) < 0.35, rng.random(rows) < 0.5
        age, spend, score = rng.normal(41.0, 13.0, rows).clip(16, 90), rng.gamma(1.5, 40.0, rows), rng.normal(size=rows)
        hour, segment = rng.integers(0, 24, rows), rng.integers(0, 12, rows)
        no_age, no_spend = rng.random(rows) < 0.15, rng.random(rows) < 0.25
        a = np.where(no_age, 0.0, (age - 41.0) / 13.0)
        s = np.where(no_spend, 0.0, (np.log1p(spend) - 3.8) / 0.9)
        turn = 2.0 * np.pi * hour / 24.0
        logits = self.base + self.country[country] + self.device[device] + self.segment[segment]
        logits = logits + np.outer(member, self.member) + np.outer(letter, self.letter)
        logits = logits + np.outer(a, self.slopes[0]) + np.outer(s, self.slopes[1]) + np.outer(score, self.slopes[2])
        logits = logits + np.outer(np.sin(turn), self.day[0]) + np.outer(np.cos(turn), self.day[1])
        logits = logits + np.outer(a * a - 1.0, self.bend) + np.outer(member & (score > 0.5), self.pair)
        probabilities = 1.0 / (1.0 + np.exp(-logits))
        belief = np.stack([np.ones(rows), member, device == 0, score], axis=1) @ self.belief
        odds = np.exp(belief - belief.max(axis=1, keepdims=True))
        p = LEAST + (1.0 - len(BANNERS) * LEAST) * odds / odds.sum(axis=1, keepdims=True)
        shown = (rng.random(rows)[:, None] > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
        each = np.arange(rows)
        minutes = rng.integers(0, 90 * 24 * 60, rows)
        numbers = {f"n{j}": rng.normal(0.0, 10.0**j, rows).round(4) for j in range(1, 5)}
        table: dict[str, Any] = {
            "age": _with_gaps(age.round(0), no_age),
            "campaign": np.array(CAMPAIGNS)[rng.integers(0, len(CAMPAIGNS), rows)].tolist(),
            "city_size": rng.lognormal(10.0, 2.0, rows).round(0).tolist(),
            "country": np.array(COUNTRIES)[country].tolist(),
            "device": np.array(DEVICES)[device].tolist(),
            "has_app": np.where(rng.random(rows) < 0.3, "yes", "no").tolist(),
            "hour": hour.tolist(),
            "is_member": np.where(member, "yes", "no").tolist(),
            "lat": _with_gaps(rng.uniform(36.0, 60.0, rows).round(4), rng.random(rows) < 0.1),
            "newsletter": np.where(letter, "yes", "no").tolist(),
            "pages": rng.poisson(4.0, rows).tolist(),
            "score": score.round(4).tolist(),
            "segment_code": (100 + segment).tolist(),
            "seen_at": np.datetime_as_string(np.datetime64("2024-01-01T00:00") + minutes).tolist(),
            "signup": np.datetime_as_string(np.datetime64("2021-01-01") + rng.integers(0, 1000, rows)).tolist(),
            "spend": _with_gaps(spend.round(2), no_spend),
            "zip": [f"{z:05d}" for z in (ZIPS * rng.random(rows) ** 1.15).astype(int).tolist()],
            **{name: values.tolist() for name, values in list(numbers.items())[:3]},
            "shown": np.array(BANNERS)[shown].tolist(),
            "p": p[each, shown].tolist(),
            "click": (rng.random(rows) < probabilities[each, shown]).astype(int).tolist(),
        }
        return Visitors(table, probabilities)


def _with_gaps(values: np.ndarray, gone: np.ndarray) -> list[Any]:
    return [None if missing else value for value, missing in zip(values.tolist(), gone.tolist(), strict=True)]
