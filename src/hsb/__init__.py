"""hsb: contextual bandits with a regret guarantee.

Begin with `hsb.HSB`, which keeps an exact weighted mixture of all mappings from the regions of a hierarchical structure to arms.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import logs, structures, theory
from .errors import BrokenState, BudgetError, FileError, InputError, StaleDecision, quoted
from .features import Category, Composite, Cycle, Features, Flag, Number, Tags, Time
from .features import encoders as encode
from .files.following import Following
from .files.policy_file import load
from .play import Replay, Run, learn_from, replay, replay_all, simulate
from .policies import HSB, BestFixed, CsbFtpl, EpochGreedy, Exp3, Exp4, LinUCB, MixtureOfMappings, SExp3, TreeThompson, Uniform
from .policy import Certificate, Decision, Decisions, Policy, Slate
from .policy.open import Open as Open
from .structures import (
    ArbitrarySplits,
    BinaryTree,
    GroupedLexicographic,
    Hierarchy,
    KaryTree,
    Lexicographic,
    OneOf,
    PositionSplits,
    Structure,
)
from .structures.mappings import Mappings, mappings
from .structures.spaces import Box, Cells

if TYPE_CHECKING:
    from . import evaluate, problems
    from . import interop as adapters
    from .client import Remote as Remote
    from .experiments.paper import data, ecoc
    from .experiments.paper.classifier import HSBClassifier as HSBClassifier
    from .plotting import explanations as plot

__version__ = "0.1.0"

__all__ = [
    "Decision",
    "Decisions",
    "Following",
    "Mappings",
    "Replay",
    "Run",
    "learn_from",
    "load",
    "mappings",
    "replay",
    "replay_all",
    "simulate",
]
__all__ += ["Category", "Composite", "Cycle", "Features", "Flag", "Number", "Tags", "Time"]
__all__ += ["BrokenState", "BudgetError", "FileError", "InputError", "StaleDecision"]
__all__ += ["HSB", "BestFixed", "Certificate", "CsbFtpl", "EpochGreedy", "Exp3", "Exp4", "LinUCB", "Open"]
__all__ += ["MixtureOfMappings", "Policy", "SExp3", "Slate", "TreeThompson", "Uniform"]
__all__ += ["ArbitrarySplits", "BinaryTree", "Box", "Cells", "GroupedLexicographic", "Hierarchy", "KaryTree"]
__all__ += ["Lexicographic", "OneOf", "PositionSplits", "Structure"]
__all__ += ["Remote", "adapters", "data", "ecoc", "encode", "evaluate", "logs", "plot", "problems", "structures", "theory"]

_LAZY = {  # public name: the module, imported at first use
    "adapters": ".interop",
    "data": ".experiments.paper.data",
    "ecoc": ".experiments.paper.ecoc",
    "evaluate": ".evaluate",
    "plot": ".plotting.explanations",
    "problems": ".problems",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return import_module(_LAZY[name], __name__)
    if name == "Remote":
        from .client import Remote

        return Remote
    if name == "HSBClassifier":  # needs scikit-learn; not in __all__, so that import * works without it
        try:
            from .experiments.paper.classifier import HSBClassifier
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "sklearn":
                raise
            raise ImportError("HSBClassifier needs scikit-learn, which is not installed: pip install 'hsb[sklearn]'") from error
        return HSBClassifier
    raise AttributeError(f"module 'hsb' has no attribute {quoted(name)}")


def __dir__() -> list[str]:
    return sorted([*__all__, "HSBClassifier", "__version__"])
