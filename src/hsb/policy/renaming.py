"""Replacing names of categories and tags that a policy must forget."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .transaction import settle

if TYPE_CHECKING:
    from .policy import Policy


def rename_texts(policy: Policy, rename: Callable[[str, int], str | None]) -> bool:
    """Replace names of categories and tags, and return whether any was replaced. The policy keeps what it has learned about them.

    `rename(text, tries)` returns the new name for a text, or None to keep it. `tries` counts earlier calls for the same text, in case the new
    name is taken.

    >>> import hsb
    >>> policy = hsb.HSB(arms=["a", "b"], seed=0)
    >>> policy.learn(policy.decide({"user": "alice"}), reward=1.0)
    >>> rename_texts(policy, lambda text, tries: f"somebody {tries}" if text == "alice" else None)
    True
    >>> policy.learner.reader.column_names
    ['constant', 'user=somebody 0']
    """
    with policy.lock:
        settle(policy)
        successor = policy.learner.rename_texts(rename)
        if successor is not None:
            policy.learner = successor
        return successor is not None
