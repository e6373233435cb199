"""What the commands about logs share: how a log is named, which rows of it are meant, and how a fresh policy for it is made."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from .. import logs
from ..encode import PCA, Chain, Encoder, MinMax
from ..errors import InputError
from ..logs.log import Part
from ..policies import HSB, Policy
from ..spaces import Box
from ..structures import BinaryTree

LOG = "The log: a file, several, or a folder of Yahoo's or Open Bandit's files."
STRICT = "A malformed line is an error; otherwise it is counted and skipped."
COMPONENTS = "Principal components that become the context; 0 takes every feature as it is, scaled."
FORMAT = "yahoo-r6b, yahoo-r6a, obd, dsjson, vw, csv or parquet; by default by its look."
PROPENSITY = "Of a table: column of the probability with which it was shown; or uniform, a number, or estimate."
Json = Annotated[bool, Option("--json", help="Print one JSON object and nothing else.")]


@dataclass(frozen=True)
class Source:
    """A log as the command line names it."""

    log: Annotated[list[Path], Argument(help=LOG, metavar="LOG")]
    format: Annotated[str | None, Option(help=FORMAT)] = None
    context: Annotated[str | None, Option(help="Of a table: columns of features, with commas between.")] = None
    arm: Annotated[str | None, Option(help="Of a table: column of the arm shown.")] = None
    propensity: Annotated[str | None, Option(help=PROPENSITY)] = None
    reward: Annotated[str | None, Option(help="Of a table: column of the reward.")] = None
    categories: Annotated[str | None, Option(help="Of a table: those features that are text, with commas between.")] = None
    available: Annotated[str | None, Option(help="Of a table: column with the arms that were offered.")] = None
    strict: Annotated[bool, Option("--strict", help=STRICT)] = False

    @property
    def path(self) -> Any:
        """What `hsb.logs.open` takes as its path: one, or a list of several."""
        return self.log[0] if len(self.log) == 1 else self.log

    def options(self) -> dict[str, Any]:
        """What `hsb.logs.open` takes beside path and format."""
        given: dict[str, Any] = {name: getattr(self, name) for name in ("arm", "propensity", "reward", "available")}
        for name in ("context", "categories"):
            text = getattr(self, name)
            given[name] = None if text is None else [each.strip() for each in text.split(",") if each.strip()]
        given = {name: value for name, value in given.items() if value is not None}
        return given | {"on_error": "raise" if self.strict else "skip"}


@dataclass(frozen=True)
class SomeRows(Source):
    """The same, and which of its rows are meant."""

    skip: Annotated[int, Option(min=0, help="Rows to leave out at the beginning.")] = 0
    rows: Annotated[int | None, Option(min=1, help="Rows to use at most.")] = None

    def open(self) -> logs.Log:
        """The log, or the part of it that was asked for."""
        log = logs.open(self.path, self.format, **self.options())  # type: ignore[arg-type]
        return log if not self.skip and self.rows is None else Part(log, self.skip, self.rows)


@dataclass(frozen=True)
class Fresh:
    """A policy to be made, and how contexts are encoded for it."""

    depth: Annotated[int, Option(min=0, max=52, help="Depth of the binary tree: 2^D cells.")] = 10
    components: Annotated[int, Option(min=0, help=COMPONENTS)] = 1
    head: Annotated[int, Option(min=2, help="Rows at the beginning that the encoding of contexts is fitted on.")] = 10_000
    learning_rate: Annotated[float | None, Option(help="Learning rate; by default none is needed.")] = None
    low: Annotated[float, Option(help="The lowest reward there can be.")] = 0.0
    high: Annotated[float, Option(help="The highest reward there can be.")] = 1.0
    seed: Annotated[int, Option(min=0, help="What every random number follows from.")] = 0

    def make(self, log: logs.Log) -> tuple[Policy, Encoder]:
        """Fit the encoding on the log's head; a policy for the arms that the head has."""
        encoder: Encoder = Chain(PCA(self.components), MinMax()) if self.components else MinMax()
        encoder.fit(log.head(self.head))
        if not log.arms:
            raise InputError("The log has no row that can be used. Check its format and columns.")
        tree = BinaryTree(depth=self.depth, space=Box.unit(self.components or encoder.features))
        limits = (self.low, self.high)
        return HSB(tree, arms=list(log.arms), learning_rate=self.learning_rate, loss_range=limits, seed=self.seed), encoder
