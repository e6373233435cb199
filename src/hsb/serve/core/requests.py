"""Policies whose arms come with each request (`hsb.Open`): their description, and requests as the journal holds them.

A decision's row then has the *group* of its arm as `arm`, the arm's name as `played`, the number of arms of each group as `available`, and
the position of the baseline among the arms of the request as `baseline`. Its context is `{"$request": [context, [[arm, features], ...]]}`.
"""

import json
from typing import Any

import numpy as np

from ...checks import is_number, whole
from ...errors import InputError, quoted
from ...features.request import Request
from ...policy.open import KNOWN, Open
from .arms import MOST_ARMS, arm_name, arm_names
from .rows import DecisionRow
from .sampling import context_json, indices_of

Plain = dict[str, Any]
Arms = list[str] | Plain
"""The arms of a policy as plain data: names, or {"open": {...}} if they come with each request."""

KEYS = {"always", "group", "groups", "known"}
MOST_OFFERED = MOST_ARMS  # arms of a request
COUNT = "<u4"
LARGEST = 2.0**53  # of numbers that name a group
EXAMPLE = '{"a17": {"price": 9}, "b3": {"price": 12}}'


def check_arms(value: Any) -> Arms:
    """Check the arms of a new policy: a list of names, or {"open": {...}}.

    >>> check_arms({"open": {"group": "topic", "groups": ["news"]}})
    {'open': {'always': [], 'group': 'topic', 'groups': ['news'], 'known': 10000}}
    """
    if not isinstance(value, dict):
        return arm_names(value)
    settings = value.get("open")
    if set(value) != {"open"} or not isinstance(settings, dict) or not set(settings) <= KEYS:
        raise InputError(
            f'arms must be a list of names, or {{"open": {{...}}}} with some of {", ".join(sorted(KEYS))}; given {quoted(value):.200}.'
        )
    always, group, groups = settings.get("always") or [], settings.get("group"), settings.get("groups") or []
    if always:
        always = arm_names(always, "arms.open.always")
    if not isinstance(groups, list) or not all(
        isinstance(each, str) or (is_number(each) and abs(each) < LARGEST) for each in groups
    ):
        raise InputError(f"arms.open.groups must be a list of texts or numbers; given {quoted(groups):.200}.")
    if len(always) + len(groups) >= MOST_ARMS:
        raise InputError(f"arms.open may name fewer than {MOST_ARMS} groups; given {len(always) + len(groups)}.")
    for name in [group, *groups]:
        if isinstance(name, str):
            arm_name(name, "A name of a group")
    if (group is None) != (not groups):
        raise InputError(
            "arms.open.group must name a feature of the arms, and groups list its values, each of which is a group: give both or neither; "
            f"given {quoted(group)} and {quoted(groups):.200}."
        )
    known = whole("arms.open.known", settings.get("known", KNOWN), 1, KNOWN)
    arms = {"open": {"always": always, "group": group, "groups": groups, "known": known}}
    names = group_names(make_open(arms))
    if len(set(names)) < len(names):
        raise InputError(f"Groups must differ, also as text; given {quoted(names):.200}.")
    return arms


def make_open(arms: Arms) -> Open:
    """Make the `hsb.Open` of a description."""
    settings = arms["open"]  # type: ignore[call-overload]
    return Open(settings["always"], group=settings["group"], groups=settings["groups"], known=settings["known"])


def group_names(arms: Open) -> list[str]:
    """Return a text for each group.

    >>> group_names(Open(["home"], group="topic", groups=["news", 3]))
    ['other arms', 'home', 'topic=news', 'topic=3']
    """
    return [f"{label[0]}={label[1]}" if isinstance(label, tuple) else str(label) for label in arms.labels]


def write_request(context: Any, arms: Any) -> tuple[Request, str]:
    """Return a request of a client, checked, and as the journal holds it. Raises InputError if it is wrong."""
    if not isinstance(arms, dict | list):
        raise InputError(
            f"arms must be an object from each available arm to its features, e.g. {EXAMPLE}; given {quoted(arms):.200}."
        )
    if len(arms) > MOST_OFFERED:
        raise InputError(f"arms must be at most {MOST_OFFERED:,} in a request; given {len(arms):,}. Send the most promising.")
    for arm in arms:
        arm_name(arm)
    request = Request(context, arms)
    try:
        return request, context_json({"$request": [context, list(request.arms.items())]})
    except (ValueError, TypeError, RecursionError):
        raise InputError(f"arms must be JSON without NaN; given {quoted(arms):.200}.") from None


def takes_arms(own: Open | None, arms: Any, available: Any, count: int) -> bool:
    """Return whether arms come with each request. Raises InputError if those of a request do not fit the policy.

    `own` describes the arms of the policy; None if it has a list of `count` arms.
    """
    if own is None:
        if arms is None:
            return False
        raise InputError(
            f"arms: this policy has a fixed list of arms, {count} of them. Leave arms out; to choose among some of them use available. "
            'For arms that come with each request create a policy with "arms": {"open": {}}.'
        )
    if arms is None:
        raise InputError(f'arms is missing: the arms of this policy come with each request. Send them, e.g. "arms": {EXAMPLE}.')
    if available is not None:
        raise InputError(
            "available: the arms of this policy come with each request. Leave available out, and send the available arms alone."
        )
    return True


def baseline_of(names: list[Any], baseline: Any, ramp: float) -> int:
    """Return the position of the baseline among the arms of a request."""
    if baseline not in names:
        raise InputError(
            f"With ramp {ramp} the baseline must be one of the arms of the request; given {quoted(baseline)}. Send it with the arms, or name "
            "another baseline in the request or in the settings."
        )
    return names.index(baseline)


def read_request(text: str) -> Request:
    """Return the request that `write_request` wrote. Raises ValueError if it is something else.

    >>> read_request(write_request({"age": 31}, {"a17": {"price": 9}, "b3": None})[1])
    Request({'age': 31}, arms=['a17', 'b3'])
    """
    return request_of(json.loads(text))


def request_of(value: Any) -> Request:
    """Return the request of the journal's plain data. Raises ValueError if it is something else."""
    try:
        context, arms = value["$request"]
        return Request(context, dict(arms))
    except (TypeError, KeyError, InputError) as error:
        raise ValueError(f"it is no request: {error}") from None


def read_context(row: DecisionRow) -> Any:
    """Return what a policy is given for a decision: its context, or its request if its arms came with it."""
    return json.loads(row.context) if row.played is None else read_request(row.context)


def count_groups(arms: Open, request: Request) -> tuple[bytes, list[int]]:
    """Return the number of arms of each group as a row holds them, and the group of each arm."""
    options = arms.groups_of(request.arms.items())
    return np.bincount(options, minlength=len(arms.labels)).astype(COUNT).tobytes(), options.tolist()


def counts_of(available: bytes) -> list[int]:
    """Return the number of arms of each group.

    >>> counts_of(count_groups(Open(["home"]), Request(None, ["x", "home", "y"]))[0])
    [2, 1]
    """
    return np.frombuffer(available, dtype=COUNT).tolist()  # type: ignore[no-any-return]


def count_arms(available: bytes, groups: int, *, came: bool) -> Any:
    """Return the number of available arms of each group; if they did not come with the request, each arm is a group.

    >>> count_arms(b"\\x05", 3, came=False).tolist()
    [1, 0, 1]
    """
    counts = np.zeros(groups, dtype=np.int64)
    if came:
        own = counts_of(available)
        counts[: len(own)] = own
    else:
        counts[indices_of(available)] = 1
    return counts


def is_baseline(row: DecisionRow) -> bool | None:
    """Return whether the arm of a decision is its baseline; None if its request was forgotten."""
    if row.played is None or row.baseline is None:
        return row.arm == row.baseline
    return list(read_request(row.context).arms)[row.baseline] == row.played if row.context else None


def available_count(row: DecisionRow) -> int:
    """Return the number of arms that were available for a decision."""
    return len(indices_of(row.available)) if row.played is None else sum(counts_of(row.available))


def played_of(arms: list[str], row: DecisionRow) -> str:
    """Return the name of the arm of a decision; `arms` are those of the policy."""
    return arms[row.arm] if row.played is None else row.played


def same_arms(policy: Any, arms: Open | None, names: list[str]) -> bool:
    """Whether a policy has these open arms, or, if it is None, this list of arms."""
    own = policy.learner.arms if policy.learner.takes_requests else None
    if arms is None or own is None:
        return arms is own and set(policy.active_arms) == set(names)
    return bool(own.to_dict() == arms.to_dict())


def some_arm(policy: Any, context: Any) -> Any:
    """Return an arm that a policy may play for a context or a request."""
    return next(iter(context.arms)) if type(context) is Request else policy.active_arms[0]
