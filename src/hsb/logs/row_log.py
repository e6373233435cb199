"""A log whose rows are checked as they are read, with its arms, the kinds of its columns and its estimated propensities."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

from ..checks import whole
from ..errors import InputError, quoted
from ..features.arm_kinds import ArmKinds
from ..features.values import CATEGORY
from .batch import Batch
from .formats.table import CsvFiles, ParquetFiles
from .log import NOTHING, Log, Problem, Problems, View
from .named import LOOKED, Kinds
from .propensity_model.fit import LoggerFit
from .propensity_model.model import LoggerModel, RowSample
from .rows import RowChecker, RowSource


class RowLog(Log):
    """A log of a table or of CSV, Parquet, DSJSON or VW files. Each row is checked as it is read.

    `hsb.logs.open` makes it: `source` reads the rows, `rows` is the most rows of a batch. Rows that cannot be used are in `problems`.

    If neither the arms nor the available arms are given, every arm in the log is taken to be always available: the log is then read once
    more, before the first batch, to find the arms. It is also read once more to estimate propensities; `logger` reports the fit.

    >>> table = {"x": [0.1, 0.2, 0.3], "shown": ["a", "b", "a"], "p": [0.5, 0.5, 0.0], "click": [1, 0, 1]}
    >>> import hsb.logs
    >>> log = hsb.logs.open(table, context=["x"], arm="shown", propensity="p", reward="click")
    >>> [batch] = log
    >>> batch.labels().tolist(), str(log.problems.first[0])
    (['a', 'b'], 'table, line 3: the propensity is not in (0, 1]')
    """

    def __init__(self, source: RowSource, *, rows: int = 1 << 13) -> None:
        super().__init__()
        if not isinstance(source, RowSource):
            raise InputError(
                f"source must be a RowSource; given {quoted(source)}. Use hsb.logs.open, which makes one from a path or a table."
            )
        self.source, self.size = source, whole("rows", rows, 1)
        self.known_arms = list(source.meaning.arms or ())
        known, probabilities = source.meaning.arms is not None or source.meaning.offers != "all", source.meaning.probabilities
        self._needs_reading = not known or probabilities == "estimate"
        self._settled: dict[
            Any, LoggerModel | None
        ] = {}  # by the way of reading: by name? only complete rows? features of arms?
        self.uniform = True if probabilities == "uniform" else None

    def __repr__(self) -> str:
        return f"RowLog({self.source!r})"

    def __iter__(self) -> Iterator[Batch]:
        return self.read()

    def _settle(self, kinds: Kinds | None, complete: bool, arms: ArmKinds | None = None) -> LoggerModel | None:
        """Read the log once before the first batch, if needed: to find its arms, or to fit a model of its propensities."""
        way = kinds is not None, complete, arms is not None
        if not self._needs_reading or way in self._settled:
            return self._settled.get(way)
        meaning = self.source.meaning
        sample = RowSample() if meaning.probabilities == "estimate" else None
        for batch in self._read(kinds, complete, arms):
            if sample is not None:
                sample.add(batch)
        model = None
        if sample is not None and sample.rows:
            texts = set(meaning.categories) | {
                name for name, kind in (kinds.known.items() if kinds else ()) if kind == CATEGORY
            }
            categories = [name in texts for name in meaning.context]
            model = LoggerModel(sample, len(self.known_arms), categories, all_available=meaning.offers == "all")
        self._settled[way] = model
        return model

    @property
    def logger(self) -> LoggerFit | None:  # type: ignore[override]
        """The fit of the model for `propensity="estimate"` in the last reading (a log not read yet is read); None for other propensities."""
        if self.source.meaning.probabilities != "estimate":
            return None
        if not self._settled:
            self._settle(self.kinds() if self.source.meaning.by_name else None, not self.source.meaning.by_name)
        models = [model for model in self._settled.values() if model is not None]
        return models[-1].fit if models else None

    def arms_view(self) -> Log:
        return self.by_name()

    def by_name(
        self, known: Mapping[str, str | None] = NOTHING, *, complete: bool = False, arms: ArmKinds | None = None
    ) -> Log:
        Kinds(known)  # raises if `known` is invalid
        return _ByName(self, known, complete, arms) if self.source.meaning.by_name else self

    def read(self, kinds: Kinds | None = None, *, complete: bool = True, arms: ArmKinds | None = None) -> Iterator[Batch]:
        """Yield the batches. With `kinds`, contexts have names too, and with `arms` arms have features.

        Rows with missing values are skipped if `complete`.
        """
        model, row = self._settle(kinds, complete, arms), 0
        for batch in self._read(kinds, complete, arms):
            yield batch if model is None else replace(batch, propensity=model.propensities(batch, row))
            row += len(batch)

    def kinds(self, known: Mapping[str, str | None] = NOTHING) -> Kinds:
        """Return the kinds of features: those in `known`, else inferred from the first rows; if all are missing there, from later rows."""
        meaning = self.source.meaning
        kinds = Kinds(
            {name: known.get(name) for name in meaning.context}, meaning.categories, meaning.times, untyped=meaning.is_untyped
        )
        for rows in self.source.rows(LOOKED, lambda problem: None):
            kinds.look(dict(zip(meaning.context, rows.context, strict=True)))
            if len(kinds.known) == len(meaning.context):
                break
        return kinds

    def cut(self) -> list[Log]:
        """Return a log for each file. Raises `InputError` if events have ids, since one process must compare them all."""
        return list(self.files())

    def files(self) -> "list[RowLog]":
        """Return a `RowLog` for each file, as in `cut`."""
        source = self.source
        if not isinstance(source, CsvFiles | ParquetFiles):
            super().cut()  # raises InputError
            raise AssertionError
        if source.columns.id is not None:
            raise InputError(
                "A log with event ids cannot be divided between processes: ids are compared over all files. Read it in one process, "
                "or leave out id=."
            )
        if source.meaning.probabilities == "estimate":
            raise InputError(
                "A log with estimated propensities cannot be divided between processes: they are estimated from the whole log. "
                "Write them out first (hsb convert), or read the log in one process."
            )
        logs = []
        for path in source.paths:
            part, part_source = copy(self), copy(source)
            part_source.paths = [path]
            part.source, part.known_arms, part.problems, part._settled = part_source, list(self.known_arms), Problems(), {}
            logs.append(part)
        return logs

    @property
    def knows_arms(self) -> bool:
        return self.source.meaning.arms is not None or (bool(self._settled) and self.source.meaning.offers == "all")

    def take_arms(self, arms: Iterable[Hashable]) -> None:
        self.known_arms, self._needs_reading = list(arms), self.source.meaning.probabilities == "estimate"

    def _read(self, kinds: Kinds | None, complete: bool, arms: ArmKinds | None) -> Iterator[Batch]:
        self.problems = Problems()
        held: list[Problem] = []  # of one file, in the order of discovery

        def flush() -> None:
            in_order = sorted(held, key=lambda problem: problem.line)
            held.clear()
            for problem in in_order:
                self.skip_line(problem, self.source.meaning.on_error)

        def report(problem: Problem) -> None:
            if held and (held[0].file != problem.file or len(held) > max(self.size, 1000)):
                flush()
            held.append(problem)

        arm_kinds = None if arms is None else ArmKinds(arms.reader)  # each reading begins with the kinds given
        meaning = self.source.meaning
        checker = RowChecker(meaning, self.known_arms, report, kinds, complete=complete, arm_kinds=arm_kinds)
        for rows in self.source.rows(self.size, report):
            batch = checker.batch(rows)
            flush()
            if len(batch):
                yield batch
        flush()


class _ByName(View):
    """A `RowLog` read with its contexts by name, and with features of arms if their kinds, `arms`, are given."""

    log: RowLog

    def __init__(self, log: RowLog, known: Mapping[str, str | None], complete: bool, arms: ArmKinds | None) -> None:
        super().__init__(log)
        self.known, self.complete, self.arm_kinds = dict(known), complete, arms
        self._kinds: Kinds | None = None

    def __iter__(self) -> Iterator[Batch]:
        self._kinds = self._kinds or self.log.kinds(self.known)
        return self.log.read(self._kinds, complete=self.complete, arms=self.arm_kinds)

    def cut(self) -> list[Log]:
        """Return the parts of the log, all with the column kinds of the whole log."""
        files = self.log.files()
        self._kinds = self._kinds or self.log.kinds(self.known)
        return [_ByName(part, self._kinds.known, self.complete, self.arm_kinds) for part in files]
