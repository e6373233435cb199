"""Logs of past decisions: read in one typed form, written, and made up."""

from .batch import Batch, Pools
from .log import Log, Problem, Problems
from .opening import open
from .synthetic import SyntheticToday
from .writing import write
from .yahoo import YahooLog

__all__ = ["Batch", "Log", "Pools", "Problem", "Problems", "SyntheticToday", "YahooLog", "open", "write"]
