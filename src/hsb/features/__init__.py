"""Any context: dicts, rows and numbers; mixed, missing, unscaled, changing. What is declared, and how it is encoded."""

from .composite import Composite
from .declared import Features
from .kinds import Category, Cycle, FeatureKind, Flag, Number, Tags, Time
from .reader import FeatureReader

__all__ = ["Category", "Composite", "Cycle", "FeatureKind", "FeatureReader", "Features", "Flag", "Number", "Tags", "Time"]
