"""Run the parts of experiments, analyse the results and write a report."""

import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..errors import InputError, quoted
from ..evaluate.parallel import Progress
from .base import Experiment, Options
from .page import Study
from .report import write
from .runner import compile_first, run
from .verdicts import corrected


class Conducted(NamedTuple):
    """The studies of one call, their duration in seconds, and the report's path."""

    studies: list[Study]
    seconds: float
    report: Path


def conduct(
    experiments: Sequence[Experiment],
    options: Options,
    out: str | Path,
    *,
    jobs: int | None = None,
    engine: str = "local",
    progress: Progress | None = None,
    title: str = "Section VI, run again",
) -> Conducted:
    """Run experiments and write their report into the folder `out`; results of finished parts are kept in `out/cache`.

    All parts share one pool of workers. Bad input raises InputError before anything is run or written.
    """
    begin = time.perf_counter()
    if options.data is not None and not options.data.is_dir():
        raise InputError(
            f"The data directory {quoted(str(options.data))} does not exist. Give --data the directory with Yahoo!'s R6A or R6B files."
        )
    todo = [(experiment, experiment.parts(options)) for experiment in experiments]
    out = usable(Path(out))
    named = [(f"{experiment.name}: ", part) for experiment, parts in todo for part in parts]
    everything = [part._replace(name=own + part.name.removeprefix(own)) for own, part in named]
    prepare = compile_first if any(part.rounds for part in everything) else None
    finished = run(everything, out / "cache", jobs=jobs, engine=engine, progress=progress, prepare=prepare)
    studies = []
    for experiment, parts in todo:
        own, finished = finished[: len(parts)], finished[len(parts) :]
        results = {part.name: ready.result for part, ready in zip(parts, own, strict=True)}
        studies.append(Study(experiment, options, parts, own, experiment.analyse(options, results)))
    studies = _together(studies)
    report = write(studies, out, title=title, seconds=time.perf_counter() - begin)
    return Conducted(studies, time.perf_counter() - begin, report)


def _together(studies: list[Study]) -> list[Study]:
    """Return the studies with their claims corrected for the number of claims in all studies."""
    claims = corrected([claim for study in studies for claim in study.analysis.claims])
    together = []
    for study in studies:
        own, claims = claims[: len(study.analysis.claims)], claims[len(study.analysis.claims) :]
        together.append(study._replace(analysis=study.analysis._replace(claims=own)))
    return together


def usable(out: Path) -> Path:
    """Return the folder, created if it is missing. Raises InputError if nothing can be written there."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise InputError(
            f"Cannot write to {quoted(str(out))}: {os.strerror(error.errno or 0)}. Choose another folder."
        ) from None
    return out
