"""The HTML table that shows a policy in a notebook: class, arms, settings. Quick, as it needs no contexts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..checks import format_arms
from ..errors import quoted
from ..plotting.html_table import html_table

if TYPE_CHECKING:
    from .policy import Policy

MOST = 20  # features named
MORE = {
    "explain": "explain() shows what it plays, as rules, a data frame or a picture",
    "certificate": "certificate() shows what its rounds prove",
    "regret_bound": "regret_bound(T) bounds the regret over T rounds",
}


def html(policy: Policy) -> str:
    """Return the table: class, arms, rounds, features, settings; the guarantee, folded; further methods."""
    active = policy.active_arms
    known = set(active)
    removed = [arm for arm in policy.arms if arm not in known]
    settings = policy.learner.repr_settings() | policy.loss_scale.repr_settings()
    low, high = policy.reward_range
    rows = [
        ("policy", type(policy).__name__),
        ("arms", f"{len(active)}: {format_arms(active)}"),
        *[("arms removed", format_arms(removed))] * bool(removed),
        ("rounds learned", f"{policy.rounds:,}"),
        *[("features", _features(policy.learner.named_columns))] * bool(policy.learner.named_columns),
        ("rewards", "range not known yet" if math.isnan(low) else f"{low:g} to {high:g}"),
        *((name, quoted(value)) for name, value in settings.items()),
        *[("floor", f"{policy.floor:g}")] * (policy.floor > 0.0),
    ]
    more = [description for name, description in MORE.items() if hasattr(policy, name)]
    return html_table((), rows, notes=[f"See also: {'; '.join(more)}."], folded=("Guarantee", str(policy.guarantee)))


def _features(columns: dict[str, str | None] | None) -> str:
    named = [name if kind is None else f"{name} ({kind})" for name, kind in (columns or {}).items()]
    return ", ".join(named[:MOST]) + (f", ... {len(named)} in all" if len(named) > MOST else "")
