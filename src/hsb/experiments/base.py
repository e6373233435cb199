"""What an experiment is: a literal of settings, parts that can run anywhere in any order, and an analysis of their results.

`runner.py` runs the parts (once each, in parallel, resumable), `report.py` writes what the analysis says. An experiment knows of neither.
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
    """What the user asked for."""

    seed: int = 0
    quick: bool = False
    data: Path | None = None  # a directory with Yahoo's files, for `today`
    visits: int | None = None  # of each synthetic log of `today`
    depths: tuple[int, ...] | None = None  # of the trees, increasing; None: the paper's
    runs: int | None = None  # how many data sets or logs are played
    rounds: int | None = None  # of each data set

    def chosen(self) -> dict[str, object]:
        """The sizes that the user chose, by the name of the setting.

        >>> Options(runs=3).chosen()
        {'runs': 3}
        """
        sizes = {"visits": self.visits, "depths": self.depths, "runs": self.runs, "rounds": self.rounds}
        return {name: size for name, size in sizes.items() if size is not None}


class Part(NamedTuple):
    """One piece of work: a function of this library, and its arguments as plain data. What it returns is plain data too.

    Equal parts give equal results, wherever and however often they run; the runner keeps results under a hash of the part.
    """

    name: str
    function: str  # "package.module:function"
    arguments: dict[str, Any]
    rounds: int = 0  # how many rounds it plays, for the progress bar


@dataclass(frozen=True)
class Claim:
    """Something that is said of an experiment, and whether the numbers bear it out.

    `holds` is True only where the 95% interval of `difference` excludes the contrary; False where it excludes the claim; None where
    the interval covers both, that is, a tie at this size. `p` is the probability of so large a difference where there is none; 0 where
    nothing is left to chance.

    `origin` is who says it. "paper": the paper, of a comparison. "reading": the paper too, but run again with another choice of what it leaves
    open. "identity": it follows from the definitions, and is computed, not measured. "own": we do. Each is counted by itself, and `jointly` is
    the verdict after a correction for all claims of the same origin in a report (`verdicts.corrected`).

    `because` says in a clause why it does not hold; "" where it does. `decided_by` says in a sentence what would decide it, should it be a tie,
    by itself or after the correction; "" where nothing is known to.
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
    """Weigh a claim by one difference per independent repetition, positive where the claim is true.

    It holds where the 95% interval of the mean difference lies above 0, fails where it lies below, and is a tie (None) otherwise.
    `explanation` is given in any case; `tie` and `fails` are added where it comes to that. `because` is kept if the claim fails.
    `decided_by` is kept in any case, since a correction may yet make a tie of it.

    >>> claim("toy", "a beats b", [0.1, 0.2, 0.15]).holds, claim("toy", "a beats b", [0.1, -0.2, 0.05]).holds
    (True, None)
    """
    mean, low, high = paired_interval(differences)
    holds = True if low > 0 else False if high < 0 else None
    more = {True: "", None: tie, False: fails}[holds]
    why = " ".join(part for part in (explanation, more) if part)
    said: dict[str, Any] = {"numbers": dict(numbers or {}), "origin": origin, "explanation": why, "p": zero_p(differences)}
    said |= {"because": because if holds is False else "", "decided_by": decided_by}
    return Claim(experiment, text, holds, mean, low, high, **said)


class Figure(NamedTuple):
    """A picture: `draw` gets matplotlib's pyplot and returns a figure."""

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
    """All that an experiment has to say."""

    claims: Sequence[Claim]
    figures: Sequence[Figure]
    tables: Sequence[ReportTable]
    notes: Sequence[str]


class Experiment(ABC):
    """What can be run and reported: a subsection of Section VI, the paper's illustrations, a comparison of the user's own.

    `hsb.experiments.named` finds those of the paper. The `options` of its methods are what the command's options say: seed, quick, data,
    visits.

    >>> import hsb.experiments
    >>> [experiment] = hsb.experiments.named("stationary")
    >>> experiment.name, len(experiment.parts(Options(quick=True))) > 0
    ('stationary', True)
    """

    name: ClassVar[str]
    """What `named` and the command call it."""
    title: ClassVar[str]
    """What it is, in words."""

    @abstractmethod
    def settings(self, options: Options) -> dict[str, Any]:
        """A dict of all that it is run with, as plain data for the report."""

    @abstractmethod
    def parts(self, options: Options) -> list[Part]:
        """The work to do: a list of parts, which can run anywhere in any order."""

    @abstractmethod
    def analyse(self, options: Options, results: dict[str, Any]) -> Analysis:
        """What the results of the parts, by the part's name, show: claims, figures, tables and notes."""
