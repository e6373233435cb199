"""A shop that shows one of five banners to each visitor. Contexts are a table of mixed columns with missing values, not numbers in a box."""

from typing import Any, NoReturn

import numpy as np

from ..errors import InputError
from ..types import Floats, Ints
from .base import SCATTERED, Problem

COUNTRIES = {"DE": 0.3, "FR": 0.2, "GB": 0.15, "ES": 0.12, "IT": 0.1, "NL": 0.08, "PL": 0.05}
DEVICES = {"ios": 0.35, "android": 0.4, "web": 0.25}
HOURS = np.array([1, 1, 1, 1, 1, 1, 2, 3, 4, 4, 4, 4, 5, 5, 4, 4, 4, 5, 6, 8, 9, 9, 7, 4], dtype=np.float64)  # visitors by hour
AGE_UNKNOWN, SPEND_UNKNOWN, MEMBERS = 0.3, 0.1, 0.35
COLUMNS = [("country", "U2"), ("age", "f8"), ("device", "U7"), ("hour", "i8"), ("is_member", "?"), ("spend", "f8")]
LEAST, MOST = 0.004, 0.5  # of the probability of a click
LEVEL, EFFECT = 0.0025, 0.72  # offset and scale of all effects: the click rate is .068 at random and .136 at best

NO_STRUCTURE = "Banners has contexts with names, which no structure takes. Use hsb.HSB(arms=5) without one."


class Banners(Problem):
    """Five banners, and visitors {country, age, device, hour, is_member, spend}; age and spend may be missing.

    The probability of a click is a sum of effects, clipped to [0.004, 0.5]: most depend on one feature (a country, a device, evenings, youth,
    membership), three on two features. Banners shown at random are clicked by 6.8 % of visitors, the best banner for each by 13.6 %. The loss
    is 1 without a click. Contexts are a table with names, as `hsb.simulate` takes it; a missing number is NaN. No structure fits.

    >>> visitors, losses, expected = Banners().sample(1000, seed=0)
    >>> dict(zip(visitors.dtype.names, visitors[1].item()))
    {'country': 'FR', 'age': 23.0, 'device': 'ios', 'hour': 13, 'is_member': False, 'spend': nan}
    >>> losses.shape
    (1000, 5)
    """

    def __init__(self) -> None:
        self.arms = 5

    @property
    def space(self) -> NoReturn:  # type: ignore[override]
        """Raise `InputError`: a visitor is not a point in a box."""
        raise InputError(NO_STRUCTURE)

    def structure(self, depth: int = 10) -> NoReturn:
        raise InputError(NO_STRUCTURE)

    def _contexts(self, rng: np.random.Generator, rounds: int) -> Any:
        age = np.clip(np.rint(rng.normal(41.0, 14.0, rounds)), 16.0, 90.0)
        member = rng.random(rounds) < MEMBERS
        spend = np.round(rng.lognormal(3.0, 0.8, rounds) * np.where(member, 1.5, 1.0), 2)
        visitors = np.empty(rounds, dtype=COLUMNS)
        visitors["country"] = rng.choice(list(COUNTRIES), rounds, p=list(COUNTRIES.values()))
        visitors["age"] = np.where(rng.random(rounds) < AGE_UNKNOWN, np.nan, age)
        visitors["device"] = rng.choice(list(DEVICES), rounds, p=list(DEVICES.values()))
        visitors["hour"] = rng.choice(24, rounds, p=HOURS / HOURS.sum())
        visitors["is_member"] = member
        visitors["spend"] = np.where(rng.random(rounds) < SPEND_UNKNOWN, np.nan, spend)
        return visitors

    def expected(self, contexts: Any, when: Ints, rounds: int) -> Floats:
        """Return the expected loss of every banner: 1 minus the probability of a click."""
        country, device, member = contexts["country"], contexts["device"], contexts["is_member"].astype(np.float64)
        hour = contexts["hour"]
        evening = np.clip((hour - 13.0) / 7.0, 0.0, 1.0)
        known = ~np.isnan(contexts["age"])
        young = np.where(known, np.clip((45.0 - np.where(known, contexts["age"], 45.0)) / 20.0, -1.0, 1.0), 0.0)
        rich = np.clip(np.log(np.where(np.isnan(contexts["spend"]), 20.0, contexts["spend"] + 1.0) / 20.0), -1.0, 1.5)
        south, mobile = np.isin(country, ["ES", "IT", "FR"]), device != "web"
        clicks = np.column_stack(
            [
                0.08 - 0.06 * rich + 0.08 * (country == "DE") - 0.04 * member,  # a sale
                0.04 + 0.14 * (device == "ios") + 0.05 * young - 0.04 * (device == "web"),  # the app
                0.02 + 0.12 * evening + 0.04 * evening * mobile + 0.03 * young,  # a film tonight
                0.04 + 0.12 * member + 0.06 * rich + 0.03 * member * rich,  # the premium card
                0.05 + 0.14 * south + 0.04 * young * south - 0.04 * evening,  # summer in the south
            ]
        )
        return np.asarray(1.0 - np.clip(LEVEL + EFFECT * clicks, LEAST, MOST))

    def best_loss(self, rounds: int) -> float:
        """Return the expected average loss of the best banner for each visitor: the mean over 262,144 visitors, accurate to 3e-4."""
        contexts = self._contexts(np.random.default_rng(0), SCATTERED)
        return float(self.expected(contexts, np.zeros(SCATTERED, dtype=np.int64), 1).min(axis=1).mean())
