"""The interface of experiments: a literal of settings, parts that can run anywhere in any order, and an analysis of their results.

`runner.py` runs the parts (once each, in parallel, resumable), `report.py` writes the analysis. An experiment depends on neither.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from numpy.typing import ArrayLike

from ..evaluate.intervals import paired_interval, zero_p

Origin = Literal["paper", "reading", "identity", "own"]


class Options(NamedTuple):
    """Options of the command."""

    seed: int = 0
    quick: bool = False
    data: Path | None = None  # a directory with Yahoo's files, for `today`
    visits: int | None = None  # of each synthetic log of `today`
    depths: tuple[int, ...] | None = None  # of the trees, increasing; None: the paper's
    runs: int | None = None  # the number of data sets or logs
    rounds: int | None = None  # of each data set

    def chosen_sizes(self) -> dict[str, object]:
        """Return the sizes that the user chose, by the name of the setting.

        >>> Options(runs=3).chosen_sizes()
        {'runs': 3}
        """
        sizes = {"visits": self.visits, "depths": self.depths, "runs": self.runs, "rounds": self.rounds}
        return {name: size for name, size in sizes.items() if size is not None}


class Part(NamedTuple):
    """One piece of work: a function of this library, and its arguments as plain data. It also returns plain data.

    Equal parts give equal results, wherever and however often they run; the runner keeps results under a hash of the part.
    """

    name: str
    function: str  # "package.module:function"
    arguments: dict[str, Any]
    rounds: int = 0  # the rounds that it plays, for the progress bar


@dataclass(frozen=True)
class Claim:
    """A statement about an experiment, and whether the numbers support it.

    `holds` is True if the 95% interval of `difference` lies above 0, False if it lies below 0, and None if it covers 0: a tie at this size. `p`
    is the probability of so large a difference if the true difference is 0; 0 if the result is not random.

    `origin` is the source of the claim. "paper": a comparison in the paper. "reading": the same under another reading of the paper.
    "identity": it follows from the definitions, and is computed, not measured. "own": ours. Each origin is counted separately. `jointly` is the
    verdict after a correction for all claims of the same origin in a report (`verdicts.corrected`).

    `because` is a clause that explains why the claim does not hold; "" if it holds. `decided_by` is a sentence about what would decide a tie,
    before or after the correction; "" if that is unknown.
    """

    experiment: str
    claim: str
    holds: bool | None
    difference: float
    low: float
    high: float
    numbers: dict[str, Any] = field(default_factory=dict)
    origin: Origin = "paper"
    explanation: str = ""
    p: float = 0.0
    jointly: bool | None = None
    because: str = ""
    decided_by: str = ""


def claim(
    experiment: str,
    text: str,
    differences: ArrayLike,
    *,
    numbers: dict[str, Any] | None = None,
    origin: Origin = "paper",
    explanation: str = "",
    tie: str = "",
    fails: str = "",
    because: str = "",
    decided_by: str = "",
) -> Claim:
    """Test a claim by one difference per independent repetition, positive if the claim is true.

    It holds if the 95% interval of the mean difference lies above 0, fails if it lies below, and is a tie (None) otherwise.
    `explanation` is always kept; `tie` and `fails` are added to it for these verdicts. `because` is kept if the claim fails.
    `decided_by` is always kept, since a correction may turn any verdict into a tie.

    >>> claim("toy", "a beats b", [0.1, 0.2, 0.15]).holds, claim("toy", "a beats b", [0.1, -0.2, 0.05]).holds
    (True, None)
    """
    mean, low, high = paired_interval(differences)
    holds = True if low > 0 else False if high < 0 else None
    more = {True: "", None: tie, False: fails}[holds]
    why = " ".join(part for part in (explanation, more) if part)
    details: dict[str, Any] = {"numbers": dict(numbers or {}), "origin": origin, "explanation": why, "p": zero_p(differences)}
    details |= {"because": because if holds is False else "", "decided_by": decided_by}
    return Claim(experiment, text, holds, mean, low, high, **details)


class Figure(NamedTuple):
    """A figure: `draw` takes matplotlib's pyplot and returns a figure."""

    name: str
    caption: str
    draw: Callable[[Any], Any]
    synthetic: bool = False


class ReportTable(NamedTuple):
    """Rows under a head."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


class Analysis(NamedTuple):
    """The results of an experiment."""

    claims: Sequence[Claim]
    figures: Sequence[Figure]
    tables: Sequence[ReportTable]
    notes: Sequence[str]


class Experiment(ABC):
    """Something to run and report: a subsection of Section VI, the paper's illustrations, or a user's comparison.

    `hsb.experiments.load_experiments` returns those of the paper. The `options` of its methods are the options of the command, e.g. a seed.

    >>> import hsb.experiments
    >>> [experiment] = hsb.experiments.load_experiments("stationary")
    >>> experiment.name, len(experiment.parts(Options(quick=True))) > 0
    ('stationary', True)
    """

    name: ClassVar[str]
    """Its name for `named` and for the command."""
    title: ClassVar[str]
    """Its title in the report."""

    @abstractmethod
    def settings(self, options: Options) -> dict[str, Any]:
        """Return all settings of the run, as plain data for the report."""

    @abstractmethod
    def parts(self, options: Options) -> list[Part]:
        """Return the work to do: a list of parts, which can run anywhere in any order."""

    @abstractmethod
    def analyse(self, options: Options, results: dict[str, Any]) -> Analysis:
        """Analyse the results of the parts, by part name: claims, figures, tables and notes."""
