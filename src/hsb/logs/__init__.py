"""Logs of past decisions: read in one typed form, written, converted and simulated."""

from typing import TYPE_CHECKING, Any

from .batch import Batch, Pools
from .decided import decisions_table
from .description import LogDescription
from .formats.native import StoredLog
from .formats.obp import from_decisions, from_obp, to_obp
from .limits import Limits
from .log import Log, Problem, Problems
from .opening import open
from .propensity_model.fit import LoggerFit
from .row_log import RowLog
from .synthetic import SyntheticToday
from .writing import Converted, convert, write

if TYPE_CHECKING:
    from ..experiments.paper.yahoo import YahooLog as YahooLog

__all__ = [
    "Batch",
    "Converted",
    "Limits",
    "Log",
    "LogDescription",
    "LoggerFit",
    "Pools",
    "Problem",
    "Problems",
    "RowLog",
    "StoredLog",
    "SyntheticToday",
    "YahooLog",
]
__all__ += ["convert", "decisions_table", "from_decisions", "from_obp", "open", "to_obp", "write"]


def __getattr__(name: str) -> Any:
    if name == "YahooLog":  # of the paper's experiments, which import much
        from ..experiments.paper.yahoo import YahooLog

        return YahooLog
    raise AttributeError(f"module 'hsb.logs' has no attribute {name!r}")
