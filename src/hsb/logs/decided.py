"""Decisions and what came of them, as a table: a log again, whatever their contexts are."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..checks import is_number, is_scalar, listed
from ..errors import InputError, quoted
from ..policy.decision import Decision

MOST = 10**8  # decisions in memory


def decisions_table(
    decisions: Iterable[Decision],
    rewards: Sequence[float],
    *,
    arm: str = "arm",
    propensity: str = "propensity",
    reward: str = "reward",
    available: str = "available",
) -> dict[str, list[Any]]:
    """A dict of columns, by name, of decisions and their rewards: to be written as CSV or Parquet, or read as it is by `hsb.logs.open`.

    Contexts that are dicts have a column for each name, with None where a context lacks it. Contexts that are rows have the columns x0, x1, and
    so on, single numbers the column x. `arm`, `propensity`, `reward` and `available` are what the other columns are to be called. There is a
    column `available` where a decision says what was available: a list of arms.

    >>> import hsb, hsb.logs
    >>> policy = hsb.HSB(arms=["sale", "app"], seed=0)
    >>> decisions = [policy.decide({"country": "FR", "age": 31}), policy.decide({"country": "DE"})]
    >>> table = decisions_table(decisions, [1.0, 0.0], arm="banner", reward="click")
    >>> list(table), table["country"], table["age"]
    (['country', 'age', 'banner', 'propensity', 'click'], ['FR', 'DE'], [31, None])
    >>> log = hsb.logs.open(table, context="country", categories="country", arm="banner", propensity="propensity", reward="click")
    >>> log.count()
    2
    """
    made, given = checked(decisions, rewards)
    rows = [_named(decision.context) for decision in made]
    names = list(dict.fromkeys(name for row in rows for name in row))
    own: dict[str, list[Any]] = {
        arm: [decision.arm for decision in made],
        propensity: [decision.propensity for decision in made],
        reward: given,
    }
    if any(decision.available is not None for decision in made):
        own[available] = [None if decision.available is None else list(decision.available) for decision in made]
    others = (arm, propensity, reward, available)
    if not all(isinstance(name, str) for name in others) or len(set(others)) < 4:
        raise InputError(
            f"arm, propensity, reward and available must be different names of columns, text; given {quoted(others)}."
        )
    if twice := [name for name in names if name in own]:
        raise InputError(
            f"A feature is called {quoted(twice[0])}, as another column would be. Give arm=, reward=, ... another name."
        )
    return {name: [row.get(name) for row in rows] for name in names} | own


def checked(decisions: Iterable[Decision], rewards: Sequence[float]) -> tuple[list[Decision], list[Any]]:
    """Decisions and as many rewards, at least one."""
    made, given = listed("decisions", decisions, MOST), listed("rewards", rewards, MOST)
    if not all(isinstance(decision, Decision) for decision in made):
        raise InputError(f"Needed are decisions, as policy.decide makes them; given {quoted(decisions)}.")
    if len(made) != len(given) or not made:
        raise InputError(f"Needed is a reward for each decision, at least one; given {len(made)} and {len(given)}.")
    if bad := [each for each in given if not is_number(each) and not isinstance(each, bool | np.bool_)]:
        raise InputError(f"rewards must be numbers; given {quoted(bad[0])}.")
    return made, given


def _named(context: Any) -> Mapping[str, Any]:
    if isinstance(context, Mapping):
        return {str(name): value for name, value in context.items()}
    if isinstance(context, str | bytes) or not isinstance(context, Iterable) or is_scalar(context):
        return {"x": context}
    return {f"x{j}": value for j, value in enumerate(context)}
