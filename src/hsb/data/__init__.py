"""Data that comes with the package."""

from __future__ import annotations

from .landsat import LABELS, landsat

__all__ = ["LABELS", "landsat"]
