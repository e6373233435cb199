"""One file a library, found by its name."""

from __future__ import annotations

import importlib
import pkgutil

from ..base import Library


def names() -> list[str]:
    """The files, hsb first."""
    return sorted((module.name for module in pkgutil.iter_modules(__path__)), key=lambda name: (name != "hsb", name))


def library(name: str) -> Library:
    """What the file says."""
    found = importlib.import_module(f"{__name__}.{name}").LIBRARY
    assert isinstance(found, Library)
    return found
