"""How a command about a log says what it found."""

import json
from typing import Any

import typer
from rich.console import Console

from .. import logs
from .messages import in_options


def tell(
    as_json: bool, values: dict[str, Any], *lines: str, log: logs.Log | None = None, logger: logs.LoggerFit | None = None
) -> None:
    """Print the values as JSON and nothing else; or the lines, and on stderr which lines of the log were skipped.

    Where propensities were estimated, how well: the `log` says, or `logger`.
    """
    logger = log.logger if log is not None else logger
    if logger is not None:
        values, lines = values | {"logger": logger.to_dict()}, (*lines, str(logger))
    typer.echo(json.dumps(values, default=str) if as_json else "\n".join(lines))
    if not as_json and log is not None and len(log.problems):
        Console(stderr=True).print(in_options(str(log.problems)), markup=False, highlight=False, soft_wrap=True)
