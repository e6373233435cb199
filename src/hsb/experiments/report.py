"""Write a report: one HTML page, the figures, the claims and the results of the parts.

All files are written to a temporary folder first and then moved into place one by one, the page last.
"""

import json
import math
import os
import platform
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..plotting.figure_files import FigureFiles, draw
from .base import Claim, Figure
from .cache import plain
from .page import Study, page
from .verdicts import WORDS

PACKAGES = ("hsb", "numpy", "numba", "joblib", "matplotlib")


def write(studies: Sequence[Study], out: Path, *, title: str, seconds: float) -> Path:
    """Write report.html, claims.json, results.jsonl and figures/ into the existing folder `out`. Returns the path of the page."""
    figures = [[_draw(study.experiment.name, each) for each in study.analysis.figures] for study in studies]
    files: dict[str, bytes] = {}
    for picture in (each for own in figures for each in own):
        files |= {f"figures/{picture.name}.{end}": getattr(picture, end) for end in ("svg", "png", "pdf")}
    files["results.jsonl"] = "".join(_json(row) for study in studies for row in _results(study)).encode()
    files["claims.json"] = _json([as_dict(claim) for study in studies for claim in study.analysis.claims], indent=1).encode()
    files["report.html"] = page(title, list(zip(studies, figures, strict=True)), about(studies, seconds)).encode()
    _move_into_place(files, out)
    return out / "report.html"


def as_dict(claim: Claim) -> dict[str, Any]:
    """Return a claim as plain data: its difference with the interval, and all other numbers.

    >>> as_dict(Claim("toy", "a beats b", True, 0.2, 0.1, 0.3, {"a": 0.5, "b": 0.7}))["holds"]
    True
    """
    data = asdict(claim) | {"verdict": verdict(claim), "verdict corrected": WORDS[claim.jointly], "confidence": 0.95}
    clean: dict[str, Any] = _finite(json.loads(json.dumps(data, default=plain)))
    return clean


def verdict(claim: Claim) -> str:
    """Return the verdict of a claim in words."""
    return WORDS[claim.holds]


def about(studies: Sequence[Study], seconds: float) -> dict[str, str]:
    """Return the settings, versions and duration of a run, for the report."""
    options = studies[0].options
    return {
        "experiments": ", ".join(study.experiment.name for study in studies),
        "seed": str(options.seed),
        "size": "quick: smaller than the paper's" if options.quick else "chosen" if options.chosen_sizes() else "full",
        "rounds": f"{sum(part.rounds for study in studies for part in study.parts):,}",
        "parts": f"{sum(len(study.parts) for study in studies):,}",
        "duration": f"{seconds:.1f} s; the parts took {sum(f.seconds for s in studies for f in s.finished):.1f} s, summed over all cores",
        "versions": ", ".join([f"Python {platform.python_version()}", *(f"{name} {_version(name)}" for name in PACKAGES)]),
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _draw(prefix: str, figure: Figure) -> FigureFiles:
    return draw(figure.name if prefix in figure.name else f"{prefix}-{figure.name}", figure)


def _results(study: Study) -> Iterator[dict[str, Any]]:
    for part, finished in zip(study.parts, study.finished, strict=True):
        row = {"experiment": study.experiment.name, "part": part.name, "function": part.function, "arguments": part.arguments}
        yield row | {"rounds": part.rounds, "seconds": round(finished.seconds, 3), "result": finished.result}


def _json(value: Any, indent: int | None = None) -> str:
    return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False, indent=indent) + "\n"


def _finite(value: Any) -> Any:
    """Replace infinity and NaN by None, since JSON has neither."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {name: _finite(inside) for name, inside in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inside) for inside in value]
    return value


def _move_into_place(files: dict[str, bytes], out: Path) -> None:
    with tempfile.TemporaryDirectory(dir=out, prefix=".report.") as folder:
        for name, data in files.items():
            path = Path(folder) / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
        for name in files:
            (out / name).parent.mkdir(exist_ok=True)
            os.replace(Path(folder) / name, out / name)
