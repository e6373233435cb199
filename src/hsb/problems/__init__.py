"""Worlds to play in: the models of Section VI, others that are harder in one way each, and an adversary. All synthetic."""

import inspect
from typing import Any

from ..errors import InputError, quoted
from .adversary import Adversary, Fight
from .banners import Banners
from .base import Problem, Sample
from .changing import Changes, HiddenImprovement, LocalChange
from .paper import SortedContexts, Stationary, SuddenChange
from .waves import Articles, Noise, Piecewise, RareClicks, RealLosses, SlowDrift, Smooth, TwoFeatures

__all__ = ["Adversary", "Banners", "Fight", "Problem", "Sample", "named"]
__all__ += ["SortedContexts", "Stationary", "SuddenChange"]
__all__ += ["Changes", "HiddenImprovement", "LocalChange"]
__all__ += ["Articles", "Noise", "Piecewise", "RareClicks", "RealLosses", "SlowDrift", "Smooth", "TwoFeatures"]


def named(name: str, **settings: Any) -> Problem:
    """The problem called `name`, e.g. "sudden-change" for `SuddenChange`, made with `settings`. `InputError` where there is none.

    >>> named("sudden-change", at=0.5)
    SuddenChange(at=0.5)
    >>> named(**Smooth(arms=4).to_dict())
    Smooth(arms=4, model=0)
    """
    if not isinstance(name, str) or (kind := Problem.kinds.get(name.lower().replace("_", "-"))) is None:
        raise InputError(f"There is no problem {quoted(name)}. The problems are {', '.join(sorted(Problem.kinds))}.")
    known = list(inspect.signature(kind).parameters)
    if unknown := [key for key in settings if key not in known]:
        has = f"has the settings {', '.join(known)}" if known else "has no settings"
        raise InputError(f"The problem {quoted(kind.name)} {has}; given {', '.join(map(repr, unknown))}.")
    return kind(**settings)
