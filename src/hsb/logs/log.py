"""What a log is: batches that can be read again and again, the arms seen so far, and what was skipped."""

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..checks import is_number
from ..errors import FileError, InputError, quoted
from .batch import Batch
from .propensity_model.fit import LoggerFit

if TYPE_CHECKING:
    from .description import LogDescription

OnError = Literal["skip", "raise"]
SHOWN = 10  # problems kept in full
NOTHING: Mapping[str, str | None] = {}


class Problem(NamedTuple):
    """A line of a log that was not used, and why.

    >>> print(Problem("log.txt", 3, "the line is empty"))
    log.txt, line 3: the line is empty
    """

    file: str
    """The name of the file; "table" of a table in memory."""
    line: int
    """The number of the line, from 1."""
    reason: str
    """Why it was not used."""

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.reason}"


@dataclass
class Problems:
    """The lines that the last reading skipped: how many, how many for each reason, and the first few.

    >>> problems = Problems()
    >>> problems.add(Problem("log.txt", 3, "the line is empty"))
    >>> print(problems)
    1 line skipped
    log.txt, line 3: the line is empty
    """

    count: int = 0
    """How many lines."""
    reasons: dict[str, int] = field(default_factory=dict)
    """By the reason, how many lines."""
    first: list[Problem] = field(default_factory=list)
    """The first ten."""

    def add(self, problem: Problem) -> None:
        """Count one more line; keep it if it is among the first."""
        self.count += 1
        self.reasons[problem.reason] = self.reasons.get(problem.reason, 0) + 1
        if len(self.first) < SHOWN:
            self.first.append(problem)

    def join(self, others: "Problems") -> None:
        """Take in `others`, those of a later part of the log."""
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
    """What `hsb.logs.open` returns: an iterable of `Batch`, in order, each of a bounded number of rows.

    Each `for` reads from the beginning. A log whose length is known has `len`.

    >>> import hsb.logs
    >>> log = hsb.logs.open({"x": [0.1, 0.2], "shown": ["a", "b"], "click": [1, 0]}, arm="shown", propensity="uniform", reward="click")
    >>> [len(batch) for batch in log], len(log.problems)
    ([2], 0)
    """

    seen: list[Hashable]
    """The arms seen so far, in order of appearance. It grows while the log is read; a place once given stays."""
    problems: Problems
    """What the last reading skipped, so far."""
    uniform: bool | None = None
    """Was each arm drawn uniformly from its pool? None: not known, the propensities say."""
    logger: LoggerFit | None = None
    """Where propensities are estimates of a model: how well that fits."""

    def __init__(self) -> None:
        self.seen = []
        self.problems = Problems()

    @property
    def arms(self) -> list[Hashable]:
        """A list of the arms seen so far. Where the log was not read yet, its first rows are read to see them.

        Where a log says of each row what was available, later rows may bring more: policies take them in as they appear. Where it does not,
        these are all there are. Empty only if no row can be used.

        >>> import hsb.logs
        >>> table = {"x": [0.1, 0.2, 0.3], "shown": ["a", "b", "a"], "click": [1, 0, 1]}
        >>> hsb.logs.open(table, context="x", arm="shown", propensity="uniform", reward="click").arms
        ['a', 'b']
        """
        if not self.seen:
            for batch in self.looked():
                return self.seen or list(batch.arms)
        return self.seen

    @arms.setter
    def arms(self, arms: list[Hashable]) -> None:
        self.seen = arms

    def looked(self) -> "Log":
        """The log as it is read to see its arms."""
        return self

    @abstractmethod
    def __iter__(self) -> Iterator[Batch]: ...

    def pass_over(self, problem: Problem, on_error: OnError) -> None:
        """A line cannot be used: list it in `problems`, or raise."""
        if on_error == "raise":
            raise FileError(f"{problem}. Mend the line, or skip such lines with on_error='skip'.")
        self.problems.add(problem)

    def head(self, rows: int) -> "Log":
        """The first `rows` rows, a log of its own: to fit an encoding on, and to see the first arms."""
        if not is_number(rows) or rows < 1 or rows != int(rows):
            raise InputError(f"A head needs a whole number of rows, at least 1; given {quoted(rows)}.")
        return LogPart(self, 0, int(rows))

    def rest(self, rows: int) -> "Log":
        """All but the first `rows` rows, a log of its own: to judge what was learned from `head(rows)`.

        >>> import hsb.logs
        >>> table = {"x": [0.1, 0.2, 0.3], "shown": ["a", "b", "a"], "click": [1, 0, 1]}
        >>> log = hsb.logs.open(table, context="x", arm="shown", propensity="uniform", reward="click")
        >>> log.head(2).count(), log.rest(2).count()
        (2, 1)
        """
        if not is_number(rows) or rows < 0 or rows != int(rows):
            raise InputError(f"The rest begins after a whole number of rows, at least 0; given {quoted(rows)}.")
        return LogPart(self, int(rows), None)

    def by_name(self, known: Mapping[str, str | None] = NOTHING, *, complete: bool = False) -> "Log":
        """The same log, whose batches have their contexts by name too (`Batch.named`); a log whose contexts have no names is as it is.

        What a column holds is found in the first rows and stays: numbers, true and false, dates, else categories. `known` says of some columns
        what they are: "number", "category", "flag", ... A missing value is a value like others; with `complete=True` rows with missing values
        are problems. `hsb.learn_from`, `hsb.replay` and `hsb.evaluate` do this by themselves for policies that take features by name.

        >>> import hsb.logs
        >>> table = {"age": [31, None], "country": ["FR", "DE"], "shown": ["a", "b"], "p": [0.5, 0.5], "click": [1, 0]}
        >>> log = hsb.logs.open(table, context=["age", "country"], arm="shown", propensity="p", reward="click")
        >>> [batch] = log.by_name()
        >>> batch.named.context(1)
        {'age': nan, 'country': 'DE'}
        """
        return self

    def describe(self) -> "LogDescription":
        """What is in the log, found by reading it: rows, arms with their rewards and propensities, columns with kinds and missing values.

        >>> import hsb.logs
        >>> table = {"age": [31, None], "shown": ["a", "b"], "p": [0.5, 0.25], "click": [1, 0]}
        >>> print(hsb.logs.open(table, arm="shown", propensity="p", reward="click").describe())
        2 rows, 0 skipped; average reward 0.5
          arm 'a': 1 rows, average reward 1, propensity at least 0.5
          arm 'b': 1 rows, average reward 0, propensity at least 0.25
          age: number, missing in 50.0% of rows
        """
        from .description import described

        return described(self)

    def count(self) -> int:
        """How many rows can be used, found by reading the log."""
        return sum(len(batch) for batch in self)

    def cut(self) -> "list[Log]":
        """Logs that are this one, one after the other, each to be read by a process of its own; InputError where it cannot be cut."""
        raise InputError(
            f"A {type(self).__name__} is read as a whole: it cannot be shared between processes. Give Parquet files, "
            "as hsb.logs.convert writes them, or several CSV files; or read it in one process."
        )

    @property
    def knows_arms(self) -> bool:
        """Are `arms` all there are, before anything is read?"""
        return False

    def find_arms(self) -> list[Hashable]:
        """A list of all arms, found by reading the log."""
        for _ in self:
            pass
        return self.arms

    def take_arms(self, arms: Iterable[Hashable]) -> None:
        """Be told all arms, in their order."""
        self.arms = list(arms)

    def met(self, problems: Problems) -> None:
        """Be told what a reading of its parts skipped."""
        self.problems = problems


def check_log(what: str, log: Any) -> None:
    """Refuse what cannot be a log: neither a `Log` nor batches. A list is looked through."""
    if not isinstance(log, Iterable) or isinstance(log, str | bytes | Mapping | np.ndarray | np.generic):
        raise InputError(f"{what} needs a log, e.g. hsb.logs.open(path), or batches; given {quoted(log)}.")
    if isinstance(log, list | tuple):
        for _ in each_batch(what, log):
            pass


def each_batch(what: str, log: Iterable[Batch]) -> Iterator[Batch]:
    """The batches of a log; InputError for what is none."""
    for batch in log:
        if not isinstance(batch, Batch):
            raise InputError(
                f"{what} needs batches, as hsb.logs.open gives them or hsb.logs.Batch.of makes; given {quoted(batch)}."
            )
        yield batch


class View(Log):
    """A log, read in another way: its arms, its problems and what is known of its propensities are those of the log.

    Problems are those of what was read of it, also of lines beyond a part that were read with the part's last batch.
    """

    def __init__(self, log: Log) -> None:
        self.log, self.uniform = log, log.uniform

    @property
    def seen(self) -> list[Hashable]:  # type: ignore[override]
        """The arms of the log."""
        return self.log.arms

    @property
    def logger(self) -> LoggerFit | None:  # type: ignore[override]
        """That of the log."""
        return self.log.logger

    @property
    def problems(self) -> Problems:  # type: ignore[override]
        """Those of the log."""
        return self.log.problems

    @property
    def knows_arms(self) -> bool:
        return self.log.knows_arms

    def take_arms(self, arms: Iterable[Hashable]) -> None:
        self.log.take_arms(arms)

    def met(self, problems: Problems) -> None:
        self.log.met(problems)


class LogPart(View):
    """A log without its first `skip` rows, and not more than `rows` of the others (None: all). Its arms are those of the log."""

    def __init__(self, log: Log, skip: int, rows: int | None) -> None:
        super().__init__(log)
        self.skip, self.rows = skip, rows

    def by_name(self, known: Mapping[str, str | None] = NOTHING, *, complete: bool = False) -> Log:
        return LogPart(self.log.by_name(known, complete=complete), self.skip, self.rows)

    def __iter__(self) -> Iterator[Batch]:
        at, end = 0, None if self.rows is None else self.skip + self.rows
        for batch in self.log:
            first, last = max(self.skip - at, 0), len(batch) if end is None else min(end - at, len(batch))
            if first < last:
                yield batch if (first, last) == (0, len(batch)) else batch.take(slice(first, last))
            at += len(batch)
            if end is not None and at >= end:
                return

    def cut(self) -> list[Log]:
        """The parts of the log, as far as they belong to it; the log must know how long they are."""
        at, end = 0, math.inf if self.rows is None else self.skip + self.rows
        found: list[Log] = []
        for part in self.log.cut():
            if not isinstance(part, Sized):
                raise InputError(
                    "Rows to leave out cannot be counted in files that are read by several processes, unless hsb.logs.convert wrote them. "
                    "Take whole files, or read them in one process."
                )
            first, last = max(self.skip - at, 0), min(end - at, len(part))
            if first < last:
                found.append(part if (first, last) == (0, len(part)) else LogPart(part, first, int(last - first)))
            at += len(part)
        return found


def nothing_used(log: Any) -> str:
    """Why nothing came of a log that was read: the first row that was left out, and how many there are."""
    problems = log.problems if isinstance(log, Log) else None
    if not problems:
        return "No row was read. The log has no row that can be used, or all were left out."
    left = f"{problems.count:,} row{'s were' if problems.count > 1 else ' was'} left out; the first: {problems.first[0]}"
    return f"The log has no row that can be used: {left}."
