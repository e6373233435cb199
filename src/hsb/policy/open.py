"""`Open`: arms that come with the request."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from ..checks import arm_list, is_label, whole
from ..errors import InputError, quoted
from ..files.json_values import decode_arm, encode_arm
from ..types import Ints

OTHERS = "other arms"  # the group of all arms that are in no group
KNOWN = 10_000  # arms with a model of their own


class Open:
    """Arms that come with each request and may have features: `hsb.HSB(arms=hsb.Open())`, then `policy.decide(context, arms={...})`.

    The guarantee is about *groups* of arms, since it cannot be about each of ten thousand. In each group the models choose the arm, before
    the group is drawn. Each arm in `always` is a group of its own, and all arms in no group are one.

    - `always`: arms that are (nearly) always available, e.g. the one there was before.
    - `group`: the name of a feature of the arms; `groups` lists its values, each of which is a group.
    - `known`: the number of arms that have a model of their own. Beyond it, the arm that was least recently available loses its model.

    >>> import hsb
    >>> policy = hsb.HSB(arms=hsb.Open(group="topic", groups=["news", "sport"]), seed=0)
    >>> decision = policy.decide({"age": 31}, arms={"a17": {"price": 9, "topic": "news"}, "b3": {"price": 12, "topic": "sport"}})
    >>> policy.learn(decision, reward=1)
    >>> policy.arms
    ['other arms', ('topic', 'news'), ('topic', 'sport')]
    """

    __slots__ = ("_of_arm", "_of_value", "always", "group", "groups", "known", "labels")

    def __init__(
        self, always: Iterable[Hashable] = (), *, group: str | None = None, groups: Iterable[Hashable] = (), known: int = KNOWN
    ) -> None:
        self.always = [] if isinstance(always, list | tuple) and not always else arm_list(_no_number("always", always))
        self.groups = [] if isinstance(groups, list | tuple) and not groups else arm_list(_no_number("groups", groups))
        if (group is None) != (not self.groups) or not (group is None or isinstance(group, str)):
            raise InputError(
                "group= names a feature of the arms and groups= lists its values, e.g. group='topic', groups=['news', 'sport']; "
                f"given group={quoted(group)} and groups={quoted(self.groups):.200}."
            )
        self.group, self.known = group, whole("known", known, 1)
        self.labels: list[Hashable] = [OTHERS, *self.always, *[(group, value) for value in self.groups]]
        if len(set(self.labels)) < len(self.labels):
            raise InputError(f"Groups must differ; given {quoted(self.labels):.200}.")
        self._of_arm = {arm: 1 + k for k, arm in enumerate(self.always)}
        self._of_value = {value: 1 + len(self.always) + k for k, value in enumerate(self.groups)}

    def group_of(self, arm: Hashable, features: Any) -> int:
        """Return the number of an arm's group."""
        own = self._of_arm.get(arm)
        if own is not None:
            return own
        if self.group is None or features is None:
            return 0
        value = features.get(self.group)
        return self._of_value.get(value, 0) if is_label(value) else 0

    def groups_of(self, arms: Iterable[tuple[Hashable, Any]]) -> Ints:
        """Return the number of each arm's group."""
        return np.array([self.group_of(arm, features) for arm, features in arms], dtype=np.int64)

    def to_dict(self) -> dict[str, Any]:
        """Return the arguments as plain data."""
        values = {"always": [encode_arm(arm) for arm in self.always], "groups": [encode_arm(value) for value in self.groups]}
        return {**values, "group": self.group, "known": self.known}

    @classmethod
    def from_dict(cls, data: Any) -> Open:
        """Return what `to_dict` wrote."""
        always, groups = [[decode_arm(arm) for arm in data[name]] for name in ("always", "groups")]
        return cls(always, group=data["group"], groups=groups, known=data["known"])

    def __repr__(self) -> str:
        parts = [f"{self.always!r}"] if self.always else []
        parts += [f"group={self.group!r}, groups={self.groups!r}"] if self.groups else []
        return f"Open({', '.join(parts)})"


def _no_number(name: str, values: Any) -> Any:
    if isinstance(values, int):
        raise InputError(f"{name} must be a list; given {quoted(values)}.")
    return values
