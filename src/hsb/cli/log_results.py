"""Print the result of a command about a log."""

import json
from typing import Any

import typer
from rich.console import Console

from .. import logs
from .messages import in_options


def print_result(
    as_json: bool, values: dict[str, Any], *lines: str, log: logs.Log | None = None, logger: logs.LoggerFit | None = None
) -> None:
    """Print `values` as one JSON object, or `lines` and, on stderr, which lines of the log were skipped.

    If propensities were estimated, the fit is printed too: that of `log`, or `logger`.
    """
    logger = log.logger if log is not None else logger
    if logger is not None:
        values, lines = values | {"logger": logger.to_dict()}, (*lines, str(logger))
    typer.echo(json.dumps(values, default=str) if as_json else "\n".join(lines))
    if not as_json and log is not None and len(log.problems):
        Console(stderr=True).print(in_options(str(log.problems)), markup=False, highlight=False, soft_wrap=True)
