"""`hsb run`."""

from __future__ import annotations

from pathlib import Path

from ..experiments.base import Options
from ..experiments.own import Own
from ..experiments.spec import read
from .reproduce import carry_out


def run(spec: Path, out: Path, *, jobs: int | None, seed: int | None, strict: bool, engine: str) -> None:
    """Run the comparison that a TOML file describes."""
    own = Own(read(spec))
    options = Options(seed=own.spec["seed"] if seed is None else seed)
    carry_out([own], options, out, jobs=jobs, engine=engine, strict=strict, title=own.heading)
