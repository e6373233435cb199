"""Rows as a source gives them, to batches: every row is checked, and used or reported."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arguments import is_hashable
from ..errors import InputError, quoted
from ..types import Floats, Ints
from .batch import Batch, Pools, pooled
from .limits import LIMITS, Limits
from .log import OnError, Problem
from .values import Column, codes, identity, labels, numbers, times, truths

KEPT = 1 << 14  # sets of arms remembered

Report = Callable[[Problem], None]


class Rows(NamedTuple):
    """Some rows of a source, a column each."""

    file: str
    line: Sequence[int] | Ints
    context: Sequence[Column]
    arm: Column
    propensity: Column | None  # None: `Meaning.chances` says
    value: Column  # rewards or losses
    available: Column | Sequence[Column] | None = None  # a list of arms a row; or a column of booleans an arm
    timestamp: Column | None = None
    id: Column | None = None


class Meaning(NamedTuple):
    """How the columns are to be understood."""

    context: tuple[str, ...]
    categories: frozenset[str] = frozenset()
    arms: tuple[Hashable, ...] | None = None  # all that there may be; None: those that appear
    is_text: bool = False  # arms come as text, and stand for the given arm that is written so
    offers: Literal["all", "lists", "truths"] = "all"
    loss_range: tuple[float, float] | None = None  # None: values are rewards; else losses in this range
    negative: bool = False  # values are costs: where they have no range, rewards are what they are below 0
    arm_type: Callable[[Any], Hashable] | None = None  # makes an arm of what a column holds; ValueError is a problem of the row
    chances: float | Literal["uniform", "estimate"] | None = (
        None  # propensities without a column: one for all, 1 / offered, a model's
    )
    needs_id: bool = True  # where there is a column of event ids, a row without one is a problem
    on_error: OnError = "skip"
    limits: Limits = LIMITS

    def check(self) -> None:
        """Refuse categories that are no features."""
        if not self.categories <= set(self.context):
            raise InputError(f"categories must be among context; {sorted(self.categories - set(self.context))} are not.")


class Source(ABC):
    """Where the rows of a `RowLog` come from: files of some kind, or a table in memory."""

    meaning: Meaning

    @abstractmethod
    def rows(self, size: int, report: Report) -> Iterator[Rows]:
        """The rows from the first on, at most `size` at a time. What is no row at all is reported."""


class Files(Source):
    """Files of one kind, read one after the other."""

    def __init__(self, paths: Sequence[Path], meaning: Meaning) -> None:
        self.paths, self.meaning = list(paths), meaning

    def __repr__(self) -> str:
        return f"{type(self).__name__}({[str(path) for path in self.paths]})"

    def rows(self, size: int, report: Report) -> Iterator[Rows]:
        for path in self.paths:
            yield from self.file(path, size, report)

    @abstractmethod
    def file(self, path: Path, size: int, report: Report) -> Iterator[Rows]:
        """The rows of one file, as in `rows`."""


class Checked:
    """Turns rows into batches. One for each reading; `arms` is the log's list, which grows where the arms are not given."""

    def __init__(self, meaning: Meaning, arms: list[Hashable], report: Report) -> None:
        self.meaning, self.arms, self.report = meaning, arms, report
        self.places: dict[Hashable, int] = {arm: k for k, arm in enumerate(arms)}
        self.written = {str(arm): arm for arm in arms} if meaning.is_text and meaning.arms is not None else {}
        self.ids: set[Hashable] = set()
        self.read_set = lru_cache(KEPT)(self._read_set)
        self.rows = 0

    def batch(self, rows: Rows) -> Batch:
        """The rows that can be used; the others are reported, each with the first reason not to."""
        n = len(rows.arm)
        why: list[str | None] = [None] * n
        points = self._points(rows, why)
        chances = self._chances(rows, why)
        rewards = self._rewards(rows, why)
        seconds = np.full(n, np.nan)
        if rows.timestamp is not None:
            seconds, bad = times(rows.timestamp)
            _note(why, bad, "the timestamp is neither a number of seconds nor a date")
        shown = self._labels(rows.arm)
        _note(why, np.array([label is None for label in shown], dtype=np.bool_), "the arm is missing")
        truth: NDArray[np.bool_] | None = None
        if self.meaning.offers == "truths" and rows.available is not None:
            table = np.stack([truths(column) for column in rows.available], axis=1)
            _note(why, np.asarray(np.isnan(table).any(axis=1)), "a column of available is neither true nor false")
            truth = table == 1.0
        arm, pool, pools = self._offers(rows, why, shown, truth)
        for i, reason in enumerate(why):
            if reason is not None:
                self.report(Problem(rows.file, int(rows.line[i]), reason))
        good = np.array([reason is None for reason in why], dtype=np.bool_)
        self.rows += int(good.sum())
        pool, pools = (pool[good], pools) if truth is None else pooled(truth[good])
        known = 1.0 / pools.sizes[pool] if isinstance(self.meaning.chances, str) else chances[good]
        columns = (points[good], arm[good], rewards[good], known, seconds[good], pool, pools)
        return Batch(*columns, tuple(self.arms), estimated=self.meaning.chances == "estimate")

    def _points(self, rows: Rows, why: list[str | None]) -> Floats:
        points = np.empty((len(why), len(rows.context)))
        for j, (name, column) in enumerate(zip(self.meaning.context, rows.context, strict=True)):
            is_category = name in self.meaning.categories
            points[:, j] = codes(column) if is_category else numbers(column)
            bad = ~np.isfinite(points[:, j])
            if not bad.any():
                continue
            if not is_category and not self.rows and bad.all() and any(isinstance(v, str) and v for v in column):
                example = next(v for v in column if isinstance(v, str) and v)
                fix = "If it holds categories, add it to categories=[...]; else leave it out of context."
                raise InputError(f"Column {quoted(name)} of {rows.file} has no numbers, e.g. {quoted(example[:40])}. {fix}")
            _note(why, bad, f"feature {quoted(name)} is missing" + " or not a finite number" * (not is_category))
        return points

    def _chances(self, rows: Rows, why: list[str | None]) -> Floats:
        """The column, or the number that all have; of the others NaN."""
        if rows.propensity is None:
            said = self.meaning.chances
            return np.full(len(why), np.nan if said is None or isinstance(said, str) else said)
        chances = numbers(rows.propensity)
        _note(why, np.isnan(chances), "the propensity is missing or not a number")
        _note(why, ~((chances > 0.0) & (chances <= 1.0)), "the propensity is not in (0, 1]")
        return chances

    def _rewards(self, rows: Rows, why: list[str | None]) -> Floats:
        values, between = numbers(rows.value), self.meaning.loss_range
        what = "reward" if between is None and not self.meaning.negative else "loss"
        _note(why, ~np.isfinite(values), f"the {what} is missing or not a finite number")
        if between is not None:
            low, high = between
            _note(why, ~((values >= low) & (values <= high)), f"the loss is not in [{low:g}, {high:g}]")
            return np.asarray(low + high - values)
        return np.asarray(0.0 - values if self.meaning.negative else values)

    def _labels(self, column: Column) -> list[Hashable]:
        """The arms that a column names, None where it names none."""
        arms = labels(column)
        if (convert := self.meaning.arm_type) is not None:
            for i, label in enumerate(arms):
                try:
                    arms[i] = None if label is None else convert(label)
                except ValueError:
                    arms[i] = None
        if not self.written:
            return arms
        return [label if label in self.places else self.written.get(str(label), label) for label in arms]

    def _offers(
        self, rows: Rows, why: list[str | None], shown: list[Hashable], truth: NDArray[np.bool_] | None
    ) -> tuple[Ints, Ints, Pools]:
        """The arms shown, as indices, and the pools that lists say were offered: where there are none, one of all arms."""
        fixed = self.meaning.arms is not None
        arm, pool = np.zeros(len(why), dtype=np.int64), np.zeros(len(why), dtype=np.int64)
        listed = rows.available if self.meaning.offers == "lists" else None
        ids = None if rows.id is None else labels(rows.id)
        seen: dict[tuple[Hashable, ...], int] = {}
        members: list[list[int]] = []
        for i, label in enumerate(shown):
            if why[i] is not None:
                continue
            place = self.places.get(label, -1)
            offered: tuple[Hashable, ...] | str = () if listed is None else self._set(listed[i])
            if fixed and place < 0:
                why[i] = "the arm is not one of the arms given"
            elif isinstance(offered, str):
                why[i] = offered
            elif (listed is not None and label not in offered) or (truth is not None and not truth[i, place]):
                why[i] = "the arm shown is not among the available ones"
            elif ids is not None and ids[i] is None and self.meaning.needs_id:
                why[i] = "the event id is missing"
            elif ids is not None and ids[i] is not None and identity(ids[i]) in self.ids:
                why[i] = "the event id was there before"
            else:
                if ids is not None and ids[i] is not None:
                    self.ids.add(identity(ids[i]))
                arm[i] = self._place(label) if place < 0 else place
                pool[i] = 0 if listed is None else seen.setdefault(offered, len(seen))
                if len(seen) > len(members):
                    members.append([self._place(one) for one in offered])
        return arm, pool, Pools.of([range(len(self.arms))] if listed is None else members)

    def _place(self, label: Hashable) -> int:
        place = self.places.setdefault(label, len(self.arms))
        if place == len(self.arms):
            self.arms.append(label)
        return place

    def _set(self, value: Any) -> tuple[Hashable, ...] | str:
        """The arms of a list, or what is wrong with it."""
        if isinstance(value, np.ndarray):
            value = value.tolist()
        key = tuple(value) if isinstance(value, list) else value
        is_list = isinstance(key, str | tuple) and is_hashable(key)
        return self.read_set(key) if is_list else "available is not a list of arms"

    def _read_set(self, key: str | tuple[Any, ...]) -> tuple[Hashable, ...] | str:
        words: Any = key
        if isinstance(key, str):
            if key.lstrip().startswith("["):
                try:
                    words = json.loads(key)
                except (ValueError, RecursionError):
                    return "available is not a list of arms"
                if self.meaning.is_text:
                    words = [str(word) if isinstance(word, int) and not isinstance(word, bool) else word for word in words]
            else:
                words = [word.strip() for word in key.split("|")]
        arms = self._labels(list(words))
        if not arms or any(label is None for label in arms):
            return "available is empty or has a missing arm"
        if len(set(arms)) < len(arms):
            return "an arm is listed twice in available"
        if self.meaning.arms is not None and not all(label in self.places for label in arms):
            return "available has an arm that is not one of the arms given"
        return tuple(arms)


def _note(why: list[str | None], bad: NDArray[np.bool_], reason: str) -> None:
    """Keep the reason of rows that have none yet."""
    for i in np.flatnonzero(bad):
        why[i] = why[i] or reason
