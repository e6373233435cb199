"""Reading a log for several fixed candidates, which share the work on each batch."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...logs import Batch
from ...types import Floats
from .accumulators import BatchTerms, Reading, folds
from .bootstrap import GroupSums
from .candidates import Contexts, FixedCandidate
from .estimators import COLUMN
from .paired import Pair, value_columns
from .reward_models import RewardModel, log_features

MOST_CELLS = 1 << 24  # rows times arms of a batch


def in_parts(batches: Iterable[Batch]) -> Iterator[Batch]:
    """Yield the batches; those with features of arms in parts, so that a table with a column for each arm fits into memory."""
    for batch in batches:
        rows = len(batch) if batch.arm_features is None else max(1, MOST_CELLS // max(1, len(batch.arms)))
        for begin in range(0, len(batch), max(1, rows)):
            yield batch if rows >= len(batch) else batch.take(slice(begin, begin + rows))


class CandidateContexts(NamedTuple):
    """The contexts that candidates with the same view and `context` share; `player` is one of them."""

    player: FixedCandidate
    context: Contexts

    def __call__(self, batch: Batch) -> Any:
        """Return the contexts of a batch, one row for each event."""
        return self.player.sees(batch, self.context)


class Fitting:
    """The first pass: counts rows and fits models. `models[k]` gets the contexts of `views[k]`."""

    def __init__(self, views: Sequence[CandidateContexts | None], models: Sequence[RewardModel | None]) -> None:
        self.rows, self.views, self.models = 0, list(views), list(models)

    def _each(self) -> Iterator[tuple[RewardModel, Any]]:
        """Yield every model that is fitted, once, with its view."""
        done: set[int] = set()
        for model, view in zip(self.models, self.views, strict=True):
            if model is not None and model.fits and id(model) not in done:
                done.add(id(model))
                yield model, view

    @property
    def needed(self) -> bool:
        """Is there anything to fit?"""
        return any(True for _ in self._each())

    def prepare(self, batch: Batch) -> None:
        """Look at the log's first batch."""
        for model, _ in self._each():
            model.prepare(log_features(model, batch))

    def add(self, batches: Iterable[Batch]) -> None:
        """Add the rows of a log, or of a part."""
        for batch in in_parts(batches):
            fold = folds(self.rows, len(batch))
            for model, view in self._each():
                model.add(log_features(model, batch), view(batch), batch.arm, batch.reward, fold)
            self.rows += len(batch)

    def merge(self, later: "Fitting") -> None:
        """Add the sums of the rows that follow."""
        for (mine, _), (theirs, _) in zip(self._each(), later._each(), strict=True):
            mine.merge(theirs, self.rows)
        self.rows += later.rows

    def __getstate__(self) -> dict[str, Any]:
        """Return what a process sends back: sums, without policies."""
        return vars(self) | {"views": [None] * len(self.views)}

    def finish(self) -> None:
        """Fit the models, after the last row."""
        if self.rows:
            for model, _ in self._each():
                model.finish()


class LogPass:
    """The second pass: a `Reading` for each candidate, pairs with the baseline, and sums over the events that all can play.

    `uses[i]` is the index of candidate i's view in `views`, and of its model in `models`.
    """

    def __init__(
        self,
        players: Sequence[FixedCandidate],
        uses: Sequence[int],
        views: Sequence[CandidateContexts],
        models: Sequence[RewardModel | None],
        *,
        estimator: str,
        clip: float | None,
        baseline: int | None,
        start: int = 0,
    ) -> None:
        self.uses, self.views, self.models = list(uses), list(views), list(models)
        self.estimator, self.column, self.baseline, self.start, self.seen = estimator, COLUMN[estimator], baseline, start, 0
        self.readings = [Reading(each, models[k], clip, start) for each, k in zip(players, uses, strict=True)]
        self.together = GroupSums(2 * len(self.readings))
        self.pairs = {
            i: self._pair(reading, self.readings[baseline])
            for i, reading in enumerate(self.readings)
            if baseline is not None and i != baseline
        }

    def _pair(self, mine: Reading, other: Reading) -> Pair:
        same = (mine.low, mine.high) == (other.low, other.high)
        return Pair(self.estimator, self.column, min(mine.low, other.low), max(mine.high, other.high), same_range=same)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a process sends back: sums, without models and policies."""
        return {name: value for name, value in vars(self).items() if name not in ("views", "models")}

    def add(self, batches: Iterable[Batch], report: Callable[[int], None] | None = None) -> None:
        """Add the rows of a log, or of a part; `report` is called with the number of rows after each batch."""
        for batch in in_parts(batches):
            contexts = [view(batch) for view in self.views]
            predicted = self._predict(batch, contexts)
            terms = [reading.add(batch, contexts[k], predicted[k]) for reading, k in zip(self.readings, self.uses, strict=True)]
            self.seen += len(batch)
            self._relate(terms)
            if report is not None:
                report(self.seen)

    def _predict(self, batch: Batch, contexts: Sequence[Any]) -> list[Floats | None]:
        fold = folds(self.start + self.seen, len(batch))
        by_model: dict[int, Floats | None] = {id(None): None}
        for model, own in zip(self.models, contexts, strict=True):
            if model is not None and id(model) not in by_model:
                by_model[id(model)] = model.predict(log_features(model, batch), own, fold, batch.arms)
        return [by_model[id(model)] for model in self.models]

    def _relate(self, terms: Sequence[BatchTerms]) -> None:
        for i, pair in self.pairs.items():
            pair.add(terms[i], terms[self.baseline or 0])
        every = np.logical_and.reduce([each.used for each in terms])
        columns = [column[every[each.used]] for each in terms for column in value_columns(each, self.estimator, self.column)]
        self.together.add(np.column_stack(columns))

    def merge(self, later: "LogPass") -> None:
        """Add the sums of the events that follow."""
        for mine, theirs in zip(self.readings, later.readings, strict=True):
            mine.merge(theirs)
        for i, pair in self.pairs.items():
            pair.merge(later.pairs[i])
        self.together.merge(later.together)
        self.seen += later.seen
