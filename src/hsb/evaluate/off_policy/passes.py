"""One reading of a log for several fixed candidates: what can be shared is made once a batch."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...logs import Batch
from ...types import Floats
from .accumulators import Reading, Taken, folds
from .bootstrap import GroupSums
from .candidates import Contexts, FixedCandidate
from .estimators import COLUMN
from .paired import Pair, value_columns
from .reward_models import RewardModel, log_features


class CandidateContexts(NamedTuple):
    """What some candidates see of a batch: those with the same `context`, of which `player` is one."""

    player: FixedCandidate
    context: Contexts

    def __call__(self, batch: Batch) -> Any:
        """Their contexts, one row an event."""
        return self.player.sees(batch, self.context)


class Fitting:
    """The first reading: how many rows, and the models that they fit. `views` and `models` belong together, one model each."""

    def __init__(self, views: Sequence[CandidateContexts | None], models: Sequence[RewardModel | None]) -> None:
        self.rows, self.views, self.models = 0, list(views), list(models)

    def _each(self) -> Iterator[tuple[RewardModel, Any]]:
        """Every model that is fitted, once, and whose contexts it gets."""
        met: set[int] = set()
        for model, view in zip(self.models, self.views, strict=True):
            if model is not None and model.fits and id(model) not in met:
                met.add(id(model))
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
        """Take in a log, or a part of one."""
        for batch in batches:
            fold = folds(self.rows, len(batch))
            for model, view in self._each():
                model.add(log_features(model, batch), view(batch), batch.arm, batch.reward, fold)
            self.rows += len(batch)

    def merge(self, later: "Fitting") -> None:
        """Take in the sums of the rows that follow."""
        for (mine, _), (theirs, _) in zip(self._each(), later._each(), strict=True):
            mine.merge(theirs, self.rows)
        self.rows += later.rows

    def __getstate__(self) -> dict[str, Any]:
        """What goes back from a process: sums, and no policies."""
        return vars(self) | {"views": [None] * len(self.views)}

    def finish(self) -> None:
        """Fit, after the last row."""
        if self.rows:
            for model, _ in self._each():
                model.finish()


class LogPass:
    """The second reading: a `Reading` for each candidate, pairs with the baseline, and the events that all can play together.

    `uses[i]` says which of the `views` is that of candidate i, and which of the `models` is its own.
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
        """What goes back from a process: sums, no models and no policies."""
        return {name: value for name, value in vars(self).items() if name not in ("views", "models")}

    def add(self, batches: Iterable[Batch], told: Callable[[int], None] | None = None) -> None:
        """Take in a log, or a part of one; `told` is given the number of rows after each batch."""
        for batch in batches:
            contexts = [view(batch) for view in self.views]
            predicted = self._predicted(batch, contexts)
            taken = [reading.add(batch, contexts[k], predicted[k]) for reading, k in zip(self.readings, self.uses, strict=True)]
            self.seen += len(batch)
            self._relate(taken)
            if told is not None:
                told(self.seen)

    def _predicted(self, batch: Batch, contexts: Sequence[Any]) -> list[Floats | None]:
        fold = folds(self.start + self.seen, len(batch))
        made: dict[int, Floats | None] = {id(None): None}
        for model, own in zip(self.models, contexts, strict=True):
            if model is not None and id(model) not in made:
                made[id(model)] = model.predict(log_features(model, batch), own, fold, batch.arms)
        return [made[id(model)] for model in self.models]

    def _relate(self, taken: Sequence[Taken]) -> None:
        for i, pair in self.pairs.items():
            pair.add(taken[i], taken[self.baseline or 0])
        every = np.logical_and.reduce([each.used for each in taken])
        columns = [column[every[each.used]] for each in taken for column in value_columns(each, self.estimator, self.column)]
        self.together.add(np.column_stack(columns))

    def merge(self, later: "LogPass") -> None:
        """Take in the sums of the events that follow."""
        for mine, theirs in zip(self.readings, later.readings, strict=True):
            mine.merge(theirs)
        for i, pair in self.pairs.items():
            pair.merge(later.pairs[i])
        self.together.merge(later.together)
        self.seen += later.seen
