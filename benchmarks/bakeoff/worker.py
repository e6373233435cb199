"""Passes of one library in one process: `python -m bakeoff.worker`."""

from __future__ import annotations

from peers.base import Library
from peers.libraries import library
from peers.serving import serve

from .game import one_pass


def find(name: str) -> Library:
    """The adapter that the comparison with peers uses; for hsb, our own."""
    from .ours import LIBRARY

    return LIBRARY if name == "hsb" else library(name)


if __name__ == "__main__":
    serve({"pass": one_pass}, find)
