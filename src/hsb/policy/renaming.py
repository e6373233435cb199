"""Names of categories and tags that a policy is to forget."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .transaction import settle

if TYPE_CHECKING:
    from .policy import Policy


def rename_texts(policy: Policy, rename: Callable[[str, int], str | None]) -> bool:
    """Let a policy know some categories and tags by other names; was there any? What was learned of them stays, under that name.

    `rename` is given a name and how often it was asked before, and gives another one, or None to leave it.

    >>> import hsb
    >>> policy = hsb.HSB(arms=["a", "b"], seed=0)
    >>> policy.learn(policy.decide({"user": "alice"}), reward=1.0)
    >>> rename_texts(policy, lambda text, tries: f"somebody {tries}" if text == "alice" else None)
    True
    >>> policy.learner.reader.place_names
    ['constant', 'user=somebody 0']
    """
    with policy.lock:
        settle(policy)
        successor = policy.learner.renamed(rename)
        if successor is not None:
            policy.learner = successor
        return successor is not None
