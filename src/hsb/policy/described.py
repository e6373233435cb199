"""A policy as a small table for notebooks: what it is, not what it plays. Quick, and without contexts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..checks import shown
from ..errors import quoted
from ..plotting.html_table import html_table

if TYPE_CHECKING:
    from .policy import Policy

MOST = 20  # features that are named
MORE = {
    "explain": "explain() says what it plays, as rules, a data frame or a picture",
    "certificate": "certificate() what its rounds prove",
    "regret_bound": "regret_bound(T) what is promised for T rounds",
}


def html(policy: Policy) -> str:
    """Kind, arms, rounds, features, settings; what is proved of it, folded; how to ask more."""
    active = policy.active_arms
    known = set(active)
    removed = [arm for arm in policy.arms if arm not in known]
    settings = policy.learner.shown() | policy.loss_scale.shown()
    low, high = policy.reward_range
    rows = [
        ("policy", type(policy).__name__),
        ("arms", f"{len(active)}: {shown(active)}"),
        *[("arms removed", shown(removed))] * bool(removed),
        ("rounds learned from", f"{policy.rounds:,}"),
        *[("features", _features(policy.learner.named_columns))] * bool(policy.learner.named_columns),
        ("rewards", "no range known yet" if math.isnan(low) else f"{low:g} to {high:g}"),
        *((name, quoted(value)) for name, value in settings.items()),
        *[("floor", f"{policy.floor:g}")] * (policy.floor > 0.0),
    ]
    more = [said for name, said in MORE.items() if hasattr(policy, name)]
    return html_table(
        (), rows, notes=[f"To ask more: {'; '.join(more)}."], folded=("What is proved of it", str(policy.guarantee))
    )


def _features(columns: dict[str, str | None] | None) -> str:
    named = [name if kind is None else f"{name} ({kind})" for name, kind in (columns or {}).items()]
    return ", ".join(named[:MOST]) + (f", ... {len(named)} in all" if len(named) > MOST else "")
