"""Data that comes with the package."""

from .landsat import LABELS, landsat

__all__ = ["LABELS", "landsat"]
