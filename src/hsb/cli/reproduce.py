"""`hsb reproduce`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer
from rich.console import Console

from ..experiments import named
from ..experiments.base import Experiment, Options
from ..experiments.conduct import conduct
from ..experiments.engines import check_engine
from . import show


def reproduce(
    experiment: str,
    out: Path,
    *,
    jobs: int | None,
    seed: int,
    quick: bool,
    strict: bool,
    engine: str,
    data: Path | None,
) -> None:
    """Run experiments of the paper."""
    carry_out(named(experiment), Options(seed, quick, data), out, jobs=jobs, engine=engine, strict=strict)


def carry_out(
    experiments: Sequence[Experiment],
    options: Options,
    out: Path,
    *,
    jobs: int | None,
    engine: str,
    strict: bool,
    title: str = "Section VI, run again",
) -> None:
    """Run, with a bar; print claims and the report's path; exit with 1 where `strict` and a claim does not hold."""
    check_engine(engine)
    with show.bar(experiments[0].name if len(experiments) == 1 else "all") as progress:
        done = conduct(experiments, options, out, jobs=jobs, engine=engine, progress=progress, title=title)
    console = Console()
    claims = [claim for study in done.studies for claim in study.analysis.claims]
    show.claims(claims, console)
    show.where(done.report, done.seconds, console)
    if strict and not all(claim.holds for claim in claims):
        raise typer.Exit(1)
