"""Logs of past decisions: read in one typed form, written, and made up."""

from .batch import Batch, Pools
from .decided import decisions_table
from .limits import Limits
from .log import Log, Problem, Problems
from .logger_fit import LoggerFit
from .native import StoredLog
from .obp import from_decisions, from_obp, to_obp
from .opening import open
from .row_log import RowLog
from .synthetic import SyntheticToday
from .writing import Converted, convert, write
from .yahoo import YahooLog

__all__ = [
    "Batch",
    "Converted",
    "Limits",
    "Log",
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
