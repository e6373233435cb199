"""Synthetic problems: the models of Section VI, harder variants, and an adversary."""

import inspect
from typing import Any

from ..errors import InputError, quoted
from .adversary import Adversary, Fight
from .banners import Banners
from .base import Problem, Sample
from .changing import Changes, HiddenImprovement, LocalChange
from .paper import SortedContexts, Stationary, SuddenChange
from .waves import Articles, Noise, Piecewise, RareClicks, RealLosses, SlowDrift, Smooth, TwoFeatures

__all__ = ["Adversary", "Banners", "Fight", "Problem", "Sample", "by_name"]
__all__ += ["SortedContexts", "Stationary", "SuddenChange"]
__all__ += ["Changes", "HiddenImprovement", "LocalChange"]
__all__ += ["Articles", "Noise", "Piecewise", "RareClicks", "RealLosses", "SlowDrift", "Smooth", "TwoFeatures"]


def by_name(name: str, **settings: Any) -> Problem:
    """Make the problem called `name` with `settings`, e.g. "sudden-change" for `SuddenChange`. Raises `InputError` for an unknown name.

    >>> by_name("sudden-change", at=0.5)
    SuddenChange(at=0.5)
    >>> by_name(**Smooth(arms=4).to_dict())
    Smooth(arms=4, model=0)
    """
    if not isinstance(name, str) or (kind := Problem.kinds.get(name.lower().replace("_", "-"))) is None:
        raise InputError(f"There is no problem {quoted(name)}. The problems are {', '.join(sorted(Problem.kinds))}.")
    known = list(inspect.signature(kind).parameters)
    if unknown := [key for key in settings if key not in known]:
        has = f"has the settings {', '.join(known)}" if known else "has no settings"
        raise InputError(f"The problem {quoted(kind.name)} {has}; given {', '.join(map(repr, unknown))}.")
    return kind(**settings)
