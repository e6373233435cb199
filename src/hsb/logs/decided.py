"""Decisions and their rewards as a table, which can be read as a log."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..checks import is_number, is_scalar, listed
from ..errors import InputError, quoted
from ..features.request import Request, encode_arms
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
    arm_features: str = "arm_features",
    page: str = "page",
    slot: str = "slot",
) -> dict[str, list[Any]]:
    """Return decisions and their rewards as a dict of columns, to write as CSV or Parquet or to pass to `hsb.logs.open`.

    Contexts that are dicts become a column for each name; a value that a context lacks is None. Contexts that are rows become the columns x0,
    x1, ...; single numbers become the column x. `arm`, `propensity`, `reward`, ... name the other columns. The column `available`, lists of
    arms, exists only if some decision restricted the available arms. The column `arm_features` exists only if arms came with the request:
    then it is JSON, [[arm, features], ...] in each row.

    For pages, pass the decisions of the slates one after the other, with a reward each. The columns `page`, the id of a page's first decision,
    and `slot`, from 0, exist only if some decision is in a later slot.

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
    decided, values = check_decisions(decisions, rewards)
    requests = [decision.context if type(decision.context) is Request else None for decision in decided]
    rows = [
        _features(decision.context if request is None else request.context)
        for decision, request in zip(decided, requests, strict=True)
    ]
    names = list(dict.fromkeys(name for row in rows for name in row))
    own: dict[str, list[Any]] = {
        arm: [decision.arm for decision in decided],
        propensity: [decision.propensity for decision in decided],
        reward: values,
    }
    if any(decision.available is not None for decision in decided):
        own[available] = [_available(decision, request) for decision, request in zip(decided, requests, strict=True)]
    if any(request is not None for request in requests):
        own[arm_features] = [None if request is None else json.dumps(encode_arms(request)) for request in requests]
    if any(decision.slot for decision in decided):
        own |= {page: [decision.page for decision in decided], slot: [decision.slot for decision in decided]}
    others = (arm, propensity, reward, available, arm_features, page, slot)
    if not all(isinstance(name, str) for name in others) or len(set(others)) < len(others):
        raise InputError(
            "arm, propensity, reward, available, arm_features, page and slot must be different names of columns, text; "
            f"given {quoted(others)}."
        )
    if twice := [name for name in names if name in own]:
        raise InputError(
            f"A feature has the name {quoted(twice[0])}, which another column needs. Give arm=, reward=, ... another name."
        )
    return {name: [row.get(name) for row in rows] for name in names} | own


def _available(decision: Decision, request: Request | None) -> list[Any] | None:
    """Return the arms that were available; None if all of the policy's were."""
    if decision.available is None:
        return None if request is None else list(request.arms)
    return list(decision.available)


def check_decisions(decisions: Iterable[Decision], rewards: Sequence[float]) -> tuple[list[Decision], list[Any]]:
    """Check that there is a reward for each decision, at least one, and return both as lists."""
    decided, values = listed("decisions", decisions, MOST), listed("rewards", rewards, MOST)
    if not all(isinstance(decision, Decision) for decision in decided):
        raise InputError(f"decisions must be what policy.decide returns; given {quoted(decisions)}.")
    if len(decided) != len(values) or not decided:
        raise InputError(
            f"rewards must have one number for each decision, at least one; given {len(decided)} decisions and {len(values)} rewards."
        )
    if bad := [value for value in values if not is_number(value) and not isinstance(value, bool | np.bool_)]:
        raise InputError(f"rewards must be numbers; given {quoted(bad[0])}.")
    return decided, values


def _features(context: Any) -> Mapping[str, Any]:
    if isinstance(context, Mapping):
        return {str(name): value for name, value in context.items()}
    if isinstance(context, str | bytes) or not isinstance(context, Iterable) or is_scalar(context):
        return {"x": context}
    return {f"x{j}": value for j, value in enumerate(context)}
