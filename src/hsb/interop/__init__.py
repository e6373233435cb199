"""hsb's policies inside other libraries' loops: coba, river, OBP and MABWiser.

Each adapter plays a copy of the policy it is given, which itself stays as it is, and learns every reward with the propensity that the
decision was made with, however late the reward comes. Nothing of those libraries is imported until an adapter is used, and only
`RiverPolicy` cannot do without.

>>> from hsb import adapters
>>> adapters.__all__
['CobaLearner', 'MABWiserBandit', 'OBPPolicy', 'RiverPolicy']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .coba import CobaLearner as CobaLearner
    from .mabwiser import MABWiserBandit as MABWiserBandit
    from .obp import OBPPolicy as OBPPolicy
    from .river import RiverPolicy as RiverPolicy

__all__ = ["CobaLearner", "MABWiserBandit", "OBPPolicy", "RiverPolicy"]

_FILES = {"CobaLearner": "coba", "MABWiserBandit": "mabwiser", "OBPPolicy": "obp", "RiverPolicy": "river"}


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module 'hsb.adapters' has no attribute {name!r}")
    library = _FILES[name]
    try:
        module = import_module(f".{library}", __name__)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != library:
            raise
        raise ImportError(f"{name} needs {library}, which is not installed: pip install {library}") from error
    return getattr(module, name)
