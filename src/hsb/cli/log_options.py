"""Options that the commands about logs share: the log, its format, and which rows to use."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from .. import logs
from ..logs.log import LogPart

LOG = "The log: one file, several, or a folder of Yahoo's or Open Bandit's files."
HELD_OUT = "A log that the policy did not learn from: each rule then says what its arm earns there."
STRICT = "Stop with an error at a malformed line; by default it is counted and skipped."
CONTEXT = "Of a table: columns of features, separated by commas; by default all columns without another role."
CATEGORIES = "Of a table: features that are text even if they look like numbers, separated by commas."
TIMES = "Of a table: features that are dates or times, separated by commas; dates like 2026-11-19 in a CSV file are recognised."
FORMAT = "yahoo-r6b, yahoo-r6a, obd, jsonl, dsjson, vw, csv or parquet; by default inferred from its name and first line."
PROPENSITY = "Of a table: column of the probability with which the arm was shown; or uniform, a number, or estimate."
ARM_FEATURES = (
    "Of a table: column with the features of the available arms, as JSON; or arm_* for a column of lists for each feature."
)
PARTS = ("arm", "propensity", "reward", "loss", "available", "arm_features", "timestamp", "id")  # columns of a table
Json = Annotated[bool, Option("--json", help="Print one JSON object and nothing else.")]


@dataclass(frozen=True)
class LogOptions:
    """The log, its format and its columns."""

    log: Annotated[list[Path], Argument(help=LOG, metavar="LOG")]
    format: Annotated[str | None, Option(help=FORMAT)] = None
    context: Annotated[str | None, Option(help=CONTEXT)] = None
    arm: Annotated[str | None, Option(help="Of a table: column of the arm shown.")] = None
    propensity: Annotated[str | None, Option(help=PROPENSITY)] = None
    reward: Annotated[str | None, Option(help="Of a table: column of the reward.")] = None
    loss: Annotated[str | None, Option(help="Of a table: column of the loss, in [0, 1], in place of the reward.")] = None
    categories: Annotated[str | None, Option(help=CATEGORIES)] = None
    times: Annotated[str | None, Option(help=TIMES)] = None
    available: Annotated[str | None, Option(help="Of a table: column with the arms that were available.")] = None
    arm_features: Annotated[str | None, Option(help=ARM_FEATURES)] = None
    timestamp: Annotated[str | None, Option(help="Of a table: column of the time.")] = None
    id: Annotated[str | None, Option(help="Of a table: column of the event's id; events with a repeated id are skipped.")] = (
        None
    )
    strict: Annotated[bool, Option("--strict", help=STRICT)] = False

    @property
    def path(self) -> Any:
        """The path for `hsb.logs.open`: one, or a list of several."""
        return self.log[0] if len(self.log) == 1 else self.log

    def options(self) -> dict[str, Any]:
        """Return the arguments of `hsb.logs.open` other than path and format."""
        options: dict[str, Any] = {name: getattr(self, name) for name in PARTS}
        for name in ("context", "categories", "times"):
            text = getattr(self, name)
            options[name] = None if text is None else [each.strip() for each in text.split(",") if each.strip()]
        options = {name: value for name, value in options.items() if value is not None}
        return options | {"on_error": "raise" if self.strict else "skip"}


@dataclass(frozen=True)
class SomeRows(LogOptions):
    """The log, and which of its rows to use."""

    skip: Annotated[int, Option(min=0, help="Number of rows to leave out at the beginning.")] = 0
    rows: Annotated[int | None, Option(min=1, help="Largest number of rows to use.")] = None

    def open(self) -> logs.Log:
        """Open the log, or the part of it that --skip and --rows select."""
        log = logs.open(self.path, self.format, **self.options())  # type: ignore[arg-type]
        return log if not self.skip and self.rows is None else LogPart(log, self.skip, self.rows)


@dataclass(frozen=True)
class PerhapsRows(SomeRows):
    """The same of a log that may be left out."""

    log: Annotated[list[Path] | None, Argument(help=HELD_OUT, metavar="LOG")] = None  # type: ignore[assignment]
