"""Features of contexts: dicts, rows or numbers; mixed, missing, unscaled, changing. Their declaration and their encoding."""

from .composite import Composite
from .declared import Features
from .kinds import Category, Cycle, FeatureKind, Flag, Number, Tags, Time
from .reader import FeatureReader
from .request import Request

__all__ = [
    "Category",
    "Composite",
    "Cycle",
    "FeatureKind",
    "FeatureReader",
    "Features",
    "Flag",
    "Number",
    "Request",
    "Tags",
    "Time",
]
