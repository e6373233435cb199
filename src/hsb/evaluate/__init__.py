"""How well policies do: comparisons on a problem, with intervals."""

from __future__ import annotations

from .compare import compare
from .comparison import Comparison, Curve, Row, TableRow
from .intervals import Interval, mean_interval, paired_interval, student_quantile

__all__ = [
    "Comparison",
    "Curve",
    "Interval",
    "Row",
    "TableRow",
    "compare",
    "mean_interval",
    "paired_interval",
    "student_quantile",
]
