"""Any context: dicts, rows and numbers; mixed, missing, unscaled, changing. What is declared, and how it is encoded."""

from .declared import Features
from .kinds import Category, Cycle, Flag, Kind, Number, Tags, Time
from .reader import FeatureReader

__all__ = ["Category", "Cycle", "FeatureReader", "Features", "Flag", "Kind", "Number", "Tags", "Time"]
