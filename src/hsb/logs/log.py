"""Logs: batches that can be read repeatedly, the arms seen so far, and the lines that were skipped."""

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..checks import is_number
from ..errors import FileError, InputError, quoted
from ..features.arm_kinds import ArmKinds
from .batch import Batch
from .propensity_model.fit import LoggerFit

if TYPE_CHECKING:
    from .description import LogDescription

OnError = Literal["skip", "raise"]
SHOWN = 10  # problems kept in full
NOTHING: Mapping[str, str | None] = {}


class Problem(NamedTuple):
    """A line of a log that was skipped, and the reason.

    >>> print(Problem("log.txt", 3, "the line is empty"))
    log.txt, line 3: the line is empty
    """

    file: str
    """The name of the file; "table" for a table in memory."""
    line: int
    """The number of the line, from 1."""
    reason: str
    """Why the line was skipped."""

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.reason}"


@dataclass
class Problems:
    """The lines that the last reading skipped: their number, the number for each reason, and the first few.

    >>> problems = Problems()
    >>> problems.add(Problem("log.txt", 3, "the line is empty"))
    >>> print(problems)
    1 line skipped
    log.txt, line 3: the line is empty
    """

    count: int = 0
    """The number of lines skipped."""
    reasons: dict[str, int] = field(default_factory=dict)
    """The number of lines for each reason."""
    first: list[Problem] = field(default_factory=list)
    """The first ten."""

    def add(self, problem: Problem) -> None:
        """Count a line; keep it if it is among the first ten."""
        self.count += 1
        self.reasons[problem.reason] = self.reasons.get(problem.reason, 0) + 1
        if len(self.first) < SHOWN:
            self.first.append(problem)

    def join(self, others: "Problems") -> None:
        """Add `others`, the problems of a later part of the log."""
        self.count += others.count
        for reason, times in others.reasons.items():
            self.reasons[reason] = self.reasons.get(reason, 0) + times
        self.first = [*self.first, *others.first][:SHOWN]

    def __len__(self) -> int:
        return self.count

    def __str__(self) -> str:
        if not self.count:
            return "no line skipped"
        more = [f"... and {self.count - len(self.first)} more"] * (self.count > len(self.first))
        return "\n".join([f"{self.count} line{'s' * (self.count > 1)} skipped", *map(str, self.first), *more])


class Log(ABC):
    """An iterable of `Batch`, each with a bounded number of rows, in order; `hsb.logs.open` returns one.

    Each `for` loop reads from the beginning. A log of known length supports `len`.

    >>> import hsb.logs
    >>> log = hsb.logs.open({"x": [0.1, 0.2], "shown": ["a", "b"], "click": [1, 0]}, arm="shown", propensity="uniform", reward="click")
    >>> [len(batch) for batch in log], len(log.problems)
    ([2], 0)
    """

    known_arms: list[Hashable]
    """The arms seen so far, in order of appearance. It grows while the log is read; an arm keeps its index."""
    problems: Problems
    """The lines that the last reading has skipped so far."""
    uniform: bool | None = None
    """Was each arm drawn uniformly from its pool? None: unknown; look at the propensities."""
    logger: LoggerFit | None = None
    """The fit of the model that estimated the propensities; None if they were logged."""

    def __init__(self) -> None:
        self.known_arms = []
        self.problems = Problems()

    @property
    def arms(self) -> list[Hashable]:
        """The arms seen so far, a list. If the log was not read yet, this reads its first rows.

        If the log lists the available arms row by row, later rows may add arms: policies add them as they appear. Otherwise these are all
        arms. Empty only if no row can be used.

        >>> import hsb.logs
        >>> table = {"x": [0.1, 0.2, 0.3], "shown": ["a", "b", "a"], "click": [1, 0, 1]}
        >>> hsb.logs.open(table, context="x", arm="shown", propensity="uniform", reward="click").arms
        ['a', 'b']
        """
        if not self.known_arms:
            for batch in self.arms_view():
                return self.known_arms or list(batch.arms)
        return self.known_arms

    @arms.setter
    def arms(self, arms: list[Hashable]) -> None:
        self.known_arms = arms

    def arms_view(self) -> "Log":
        """Return the log in the form in which it is read to find its arms."""
        return self

    @abstractmethod
    def __iter__(self) -> Iterator[Batch]: ...

    def skip_line(self, problem: Problem, on_error: OnError) -> None:
        """Add a line that cannot be used to `problems`. Raises `FileError` if `on_error` is "raise"."""
        if on_error == "raise":
            raise FileError(f"{problem}. Fix the line, or skip such lines with on_error='skip'.")
        self.problems.add(problem)

    def head(self, rows: int) -> "Log":
        """Return the first `rows` rows as a log, e.g. to fit an encoder or to see the first arms."""
        if not is_number(rows) or rows < 1 or rows != int(rows):
            raise InputError(f"head needs a whole number of rows, at least 1; given {quoted(rows)}.")
        return LogPart(self, 0, int(rows))

    def rest(self, rows: int) -> "Log":
        """Return all but the first `rows` rows as a log, e.g. to evaluate what was learned from `head(rows)`.

        >>> import hsb.logs
        >>> table = {"x": [0.1, 0.2, 0.3], "shown": ["a", "b", "a"], "click": [1, 0, 1]}
        >>> log = hsb.logs.open(table, context="x", arm="shown", propensity="uniform", reward="click")
        >>> log.head(2).count(), log.rest(2).count()
        (2, 1)
        """
        if not is_number(rows) or rows < 0 or rows != int(rows):
            raise InputError(f"rest needs a whole number of rows to leave out, at least 0; given {quoted(rows)}.")
        return LogPart(self, int(rows), None)

    def by_name(
        self, known: Mapping[str, str | None] = NOTHING, *, complete: bool = False, arms: ArmKinds | None = None
    ) -> "Log":
        """Return the same log with contexts by name too (`Batch.named`); a log whose contexts have no names is returned unchanged.

        With `arms`, the kinds of features that a policy knows, it has features of arms too (`Batch.arm_features`), if they were logged.
        The first rows determine the kind of each column for the whole log: numbers, true and false, dates, else categories. `known` overrides
        the kind of some columns: "number", "category", "flag", ... Missing values are allowed; with `complete=True` rows that have one are
        skipped as problems. `hsb.learn_from`, `hsb.replay` and `hsb.evaluate` call this for policies that take features by name.

        >>> import hsb.logs
        >>> table = {"age": [31, None], "country": ["FR", "DE"], "shown": ["a", "b"], "p": [0.5, 0.5], "click": [1, 0]}
        >>> log = hsb.logs.open(table, context=["age", "country"], arm="shown", propensity="p", reward="click")
        >>> [batch] = log.by_name()
        >>> batch.named.context(1)
        {'age': nan, 'country': 'DE'}
        """
        return self

    def describe(self) -> "LogDescription":
        """Read the log and summarize it: rows, arms with their rewards and propensities, columns with kinds and missing values.

        >>> import hsb.logs
        >>> table = {"age": [31, None], "shown": ["a", "b"], "p": [0.5, 0.25], "click": [1, 0]}
        >>> print(hsb.logs.open(table, arm="shown", propensity="p", reward="click").describe())
        2 rows, 0 skipped; average reward 0.5
          arm 'a': 1 rows, average reward 1, propensity at least 0.5
          arm 'b': 1 rows, average reward 0, propensity at least 0.25
          age: number, missing in 50.0% of rows
        """
        from .description import describe

        return describe(self)

    def count(self) -> int:
        """Read the log and return the number of rows that can be used."""
        return sum(len(batch) for batch in self)

    def cut(self) -> "list[Log]":
        """Cut the log into consecutive parts, one for each process that reads it. Raises `InputError` if it cannot be cut."""
        raise InputError(
            f"A {type(self).__name__} cannot be divided between processes. Give Parquet files, which hsb.logs.convert writes, "
            "or several CSV files; or read it in one process."
        )

    @property
    def knows_arms(self) -> bool:
        """Does `arms` hold all arms before anything is read?"""
        return False

    def find_arms(self) -> list[Hashable]:
        """Read the log and return all its arms."""
        for _ in self:
            pass
        return self.arms

    def take_arms(self, arms: Iterable[Hashable]) -> None:
        """Set all arms of the log, in their order."""
        self.arms = list(arms)

    def set_problems(self, problems: Problems) -> None:
        """Set the problems that reading the log's parts found."""
        self.problems = problems


def check_log(what: str, log: Any) -> None:
    """Raise `InputError` if `log` is neither a `Log` nor an iterable of batches; every item of a list is checked. `what` is the caller."""
    if not isinstance(log, Iterable) or isinstance(log, str | bytes | Mapping | np.ndarray | np.generic):
        raise InputError(f"{what} needs a log, e.g. hsb.logs.open(path), or batches; given {quoted(log)}.")
    if isinstance(log, list | tuple):
        for _ in each_batch(what, log):
            pass


def each_batch(what: str, log: Iterable[Batch]) -> Iterator[Batch]:
    """Yield the batches of a log. Raises `InputError` for any other item. `what` is the caller, named in the message."""
    for batch in log:
        if not isinstance(batch, Batch):
            raise InputError(f"{what} needs batches, from hsb.logs.open or hsb.logs.Batch.of; given {quoted(batch)}.")
        yield batch


class View(Log):
    """Another way to read `log`, with the same arms, problems and fit of propensities.

    Its problems include lines after the end of a part that were read with the part's last batch.
    """

    def __init__(self, log: Log) -> None:
        self.log, self.uniform = log, log.uniform

    @property
    def known_arms(self) -> list[Hashable]:  # type: ignore[override]
        """The arms of the log."""
        return self.log.arms

    @property
    def logger(self) -> LoggerFit | None:  # type: ignore[override]
        """The fit of the log's propensities."""
        return self.log.logger

    @property
    def problems(self) -> Problems:  # type: ignore[override]
        """The problems of the log."""
        return self.log.problems

    @property
    def knows_arms(self) -> bool:
        return self.log.knows_arms

    def take_arms(self, arms: Iterable[Hashable]) -> None:
        self.log.take_arms(arms)

    def set_problems(self, problems: Problems) -> None:
        self.log.set_problems(problems)


class LogPart(View):
    """At most `rows` rows of a log (None: all) after its first `skip`. Its arms are the arms of the log."""

    def __init__(self, log: Log, skip: int, rows: int | None) -> None:
        super().__init__(log)
        self.skip, self.rows = skip, rows

    def by_name(
        self, known: Mapping[str, str | None] = NOTHING, *, complete: bool = False, arms: ArmKinds | None = None
    ) -> Log:
        return LogPart(self.log.by_name(known, complete=complete, arms=arms), self.skip, self.rows)

    def __iter__(self) -> Iterator[Batch]:
        begin, end = 0, None if self.rows is None else self.skip + self.rows
        for batch in self.log:
            first, last = max(self.skip - begin, 0), len(batch) if end is None else min(end - begin, len(batch))
            if first < last:
                yield batch if (first, last) == (0, len(batch)) else batch.take(slice(first, last))
            begin += len(batch)
            if end is not None and begin >= end:
                return

    def cut(self) -> list[Log]:
        """Cut the log's parts to these rows. Raises `InputError` if the length of a part is unknown."""
        begin, end = 0, math.inf if self.rows is None else self.skip + self.rows
        parts: list[Log] = []
        for part in self.log.cut():
            if not isinstance(part, Sized):
                raise InputError(
                    "Several processes cannot skip a number of rows: only files that hsb.logs.convert wrote have a known length. "
                    "Take whole files, or read them in one process."
                )
            first, last = max(self.skip - begin, 0), min(end - begin, len(part))
            if first < last:
                parts.append(part if (first, last) == (0, len(part)) else LogPart(part, first, int(last - first)))
            begin += len(part)
        return parts


def nothing_used(log: Any) -> str:
    """Explain why a log gave no row: the first problem, and the number of problems."""
    problems = log.problems if isinstance(log, Log) else None
    if not problems:
        return "No row was read: the log has no row that can be used, or all were left out."
    left = f"{problems.count:,} row{'s were' if problems.count > 1 else ' was'} left out; the first: {problems.first[0]}"
    return f"The log has no row that can be used: {left}."
