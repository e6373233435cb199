"""How a command about a log says what it found."""

import json
from typing import Any

import typer
from rich.console import Console

from .. import logs


def tell(as_json: bool, values: dict[str, Any], *lines: str, log: logs.Log | None = None) -> None:
    """Print the values as JSON and nothing else; or the lines, and on stderr which lines of the log were skipped."""
    typer.echo(json.dumps(values, default=str) if as_json else "\n".join(lines))
    if not as_json and log is not None and len(log.problems):
        Console(stderr=True).print(str(log.problems), markup=False, highlight=False, soft_wrap=True)
