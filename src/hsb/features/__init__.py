"""Any context: dicts, rows and numbers; mixed, missing, unscaled, changing. What is declared, and how it is encoded."""

from .declared import Features
from .encoder import Encoder
from .kinds import Category, Cycle, Flag, Kind, Number, Tags, Time

__all__ = ["Category", "Cycle", "Encoder", "Features", "Flag", "Kind", "Number", "Tags", "Time"]
