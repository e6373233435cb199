"""One job in one process: `python -m peers.worker`, the job on standard input, results as lines of JSON on standard output."""

from __future__ import annotations

from .jobs.long import long
from .jobs.losses import losses
from .jobs.size import size
from .jobs.speed import speed
from .jobs.trouble import trouble
from .libraries import library
from .serving import serve

if __name__ == "__main__":
    kinds = {"losses": losses, "speed": speed, "trouble": trouble, "long": long, "size": size}
    serve(kinds, library, bare=("size",))  # which is about just that
