"""Helpers of `tests/policy/test_loss_range.py`, shared with other tests."""

from typing import Any

import hsb
from support.policies import POLICIES, first, halves


def made(name: str, **common: Any) -> hsb.Policy:
    """Return the policy of that name with another range."""
    plain = POLICIES[name]()
    settings = plain.settings() | ({"experts": [first, halves]} if name == "Exp4" else {})
    return type(plain).from_settings(settings, {"arms": 3, "seed": 1} | common)
