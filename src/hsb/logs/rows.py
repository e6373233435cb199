"""Turning the rows of a source into batches: each row is checked, then used or reported."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..checks import is_hashable
from ..errors import InputError, quoted
from ..features.arm_kinds import ArmKinds
from ..types import Floats, Ints
from .arm_features import arms_of_row, parsed_once, read_arms
from .batch import Batch, Pools, number_pools
from .limits import LIMITS, Limits
from .log import OnError, Problem
from .named import Kinds, as_numbers
from .values import Coded, Column, codes, encode_labels, identity, labels, numbers, times, truths
from .why import Why

KEPT = 1 << 14  # sets of arms remembered
DAY = 86_400.0  # seconds

Report = Callable[[Problem], None]


class Rows(NamedTuple):
    """Some rows of a source, a column each."""

    file: str
    line: Sequence[int] | Ints
    context: Sequence[Column]
    arm: Column
    propensity: Column | None  # None: see `Meaning.probabilities`
    value: Column  # rewards or losses
    available: Column | Sequence[Column] | None = None  # a list of arms for each row; or a column of booleans for each arm
    timestamp: Column | None = None
    id: Column | None = None
    arm_features: Column | None = None  # of the available arms, as `arm_features.read_arms` takes them


class Meaning(NamedTuple):
    """The meaning of the columns."""

    context: tuple[str, ...]
    categories: frozenset[str] = frozenset()
    times: frozenset[str] = frozenset()
    arms: tuple[Hashable, ...] | None = None  # all arms; None: those that appear
    is_text: bool = False  # arms are read as text, and matched with the text of the arms given
    offers: Literal["all", "lists", "truths"] = "all"
    in_features: bool = False  # are the arms available those that have features?
    loss_range: tuple[float, float] | None = None  # None: values are rewards; else losses in this range
    negative: bool = False  # values are costs: without a range, the reward is -cost
    arm_type: Callable[[Any], Hashable] | None = None  # converts a column's value to an arm; ValueError is a problem of the row
    probabilities: float | Literal["uniform", "estimate"] | None = (
        None  # propensities without a column: one for all, 1 / available, a model's
    )
    needs_id: bool = True  # if there is a column of event ids, a row without one is a problem
    is_untyped: bool = False  # all features are read as text
    by_name: bool = True  # may contexts have names?
    called: tuple[tuple[str, str], ...] = ()  # the columns of the propensity and of the reward or loss
    on_error: OnError = "skip"
    limits: Limits = LIMITS

    def check(self) -> None:
        """Raise `InputError` if `categories` or `times` name a column that is not a feature, or both name the same one."""
        for what, names in (("categories", self.categories), ("times", self.times)):
            if not names <= set(self.context):
                raise InputError(f"{what} must be among context; {sorted(names - set(self.context))} are not.")
        if both := sorted(self.categories & self.times):
            raise InputError(f"{quoted(both[0])} is in both categories and times. Leave it out of one of them.")


class RowSource(ABC):
    """The source of a `RowLog`'s rows: files of one kind, or a table in memory."""

    meaning: Meaning

    @abstractmethod
    def rows(self, size: int, report: Report) -> Iterator[Rows]:
        """Yield the rows from the first on, at most `size` at a time. Lines that cannot be read go to `report`."""


class RowFiles(RowSource):
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
        """Yield the rows of one file, as in `rows`."""


class RowChecker:
    """Checks rows and makes batches of them, during one reading; `arms` is the log's list, which grows unless the arms are given.

    With `kinds`, batches have features by name too, and a feature may be missing unless rows must be `complete`. With `arm_kinds` they have
    the features of arms.
    """

    def __init__(
        self,
        meaning: Meaning,
        arms: list[Hashable],
        report: Report,
        kinds: Kinds | None = None,
        *,
        complete: bool = True,
        arm_kinds: ArmKinds | None = None,
    ) -> None:
        self.meaning, self.arms, self.report = meaning, arms, report
        self.kinds, self.complete, self.arm_kinds = kinds, complete or kinds is None, arm_kinds
        self.indices: dict[Hashable, int] = {arm: k for k, arm in enumerate(arms)}
        self.written = {str(arm): arm for arm in arms} if meaning.is_text and meaning.arms is not None else {}
        self.ids: set[Hashable] = set()
        self.read_set = lru_cache(KEPT)(self._read_set)
        self.rows = 0

    def batch(self, rows: Rows) -> Batch:
        """Return the rows that can be used; report the others, each with its first problem."""
        n = len(rows.arm)
        why = Why(n)
        if rows.arm_features is not None and (self.meaning.in_features or self.arm_kinds is not None):
            features = parsed_once(rows.arm_features)
            rows = rows._replace(arm_features=features, available=features if self.meaning.in_features else rows.available)
        values = numbers(rows.value)
        probabilities = self._probabilities(rows)
        self._numeric(self._value, rows, rows.value, values)
        points = self._points(rows, why) if self.complete else np.empty((n, 0))
        named = (
            None if self.kinds is None else self.kinds.table(dict(zip(self.meaning.context, rows.context, strict=True)), why)
        )
        if rows.propensity is not None:
            why.note(np.isnan(probabilities), "the propensity is missing or not a number")
            why.note(~((probabilities > 0.0) & (probabilities <= 1.0)), "the propensity is not in (0, 1]")
        rewards = self._rewards(values, why)
        seconds = np.full(n, np.nan)
        if rows.timestamp is not None:
            seconds, bad = times(rows.timestamp)
            why.note(bad, "the timestamp is neither a number of seconds nor a date")
        shown = self._labels(rows.arm)
        why.note(shown.codes < 0, "the arm is missing")
        truth: NDArray[np.bool_] | None = None
        if self.meaning.offers == "truths" and rows.available is not None:
            table = np.stack([truths(column) for column in rows.available], axis=1)
            why.note(np.asarray(np.isnan(table).any(axis=1)), "a column of available is neither true nor false")
            truth = table == 1.0
        is_listed = self.meaning.offers == "lists" and rows.available is not None
        arm_features = self._arm_features(rows, why) if is_listed else None
        arm, pool, pools = self._lists(rows, why, list(shown)) if is_listed else self._arms_shown(rows, why, shown, truth)
        for i, reason in why:
            self.report(Problem(rows.file, int(rows.line[i]), reason))
        good = why.good
        self.rows += int(good.sum())
        if named is not None:
            named = named if good.all() else named.take(good)
            points = points[good] if self.complete else as_numbers(named)
        else:
            points = points[good]
        pool, pools = (pool[good], pools) if truth is None else number_pools(truth[good])
        known = 1.0 / pools.sizes[pool] if isinstance(self.meaning.probabilities, str) else probabilities[good]
        columns = (points, arm[good], rewards[good], known, seconds[good], pool, pools)
        estimated = self.meaning.probabilities == "estimate"
        return Batch(*columns, tuple(self.arms), named, estimated, None if arm_features is None else arm_features[good])

    def _arm_features(self, rows: Rows, why: Why) -> NDArray[Any] | None:
        """Return the available arms of each row with their features; None if nobody asks for them, or the log has none."""
        if self.arm_kinds is None or rows.arm_features is None:
            return None
        listed: Any = rows.available
        features = np.empty(len(rows.arm), dtype=object)
        for i in np.flatnonzero(why.good).tolist():
            available = self._set(listed[i])
            if isinstance(available, str):
                continue  # `_lists` says so
            arms = arms_of_row(rows.arm_features[i], available, self._names, self.arm_kinds)
            if isinstance(arms, str):
                why.set(i, arms)
            else:
                features[i] = arms
        return features

    def _names(self, words: list[Any]) -> list[Hashable]:
        """Return the arms that words name; whole numbers are text if the log's arms are."""
        if self.meaning.is_text:
            words = [str(word) if isinstance(word, int) and not isinstance(word, bool) else word for word in words]
        return list(self._labels(words))

    def _points(self, rows: Rows, why: Why) -> Floats:
        points = np.empty((len(why.number), len(rows.context)))
        for j, (name, column) in enumerate(zip(self.meaning.context, rows.context, strict=True)):
            is_category = name in self.meaning.categories
            if name in self.meaning.times:
                points[:, j] = times(column)[0] / DAY
            else:
                points[:, j] = codes(column) if is_category else numbers(column)
            bad = ~np.isfinite(points[:, j])
            if not bad.any():
                continue
            if not is_category and not self.rows and bad.all() and (example := _text_in(column)):
                fix = "If it holds categories, add it to categories=[...], if dates, to times=[...]; else leave it out of context."
                raise InputError(f"Column {quoted(name)} of {rows.file} has no numbers, e.g. {quoted(example[:40])}. {fix}")
            why.note(bad, f"feature {quoted(name)} is missing" + " or not a finite number" * (not is_category))
        return points

    def _probabilities(self, rows: Rows) -> Floats:
        """Return the column of propensities, or the number that all rows share; NaN if they are computed later."""
        if rows.propensity is None:
            shared = self.meaning.probabilities
            return np.full(len(rows.arm), np.nan if shared is None or isinstance(shared, str) else shared)
        probabilities = numbers(rows.propensity)
        self._numeric("propensity", rows, rows.propensity, probabilities)
        return probabilities

    @property
    def _value(self) -> str:
        return "reward" if self.meaning.loss_range is None and not self.meaning.negative else "loss"

    def _rewards(self, values: Floats, why: Why) -> Floats:
        between = self.meaning.loss_range
        why.note(~np.isfinite(values), f"the {self._value} is missing or not a finite number")
        if between is not None:
            low, high = between
            why.note(~((values >= low) & (values <= high)), f"the loss is not in [{low:g}, {high:g}]")
            return np.asarray(low + high - values)
        return np.asarray(0.0 - values if self.meaning.negative else values)

    def _numeric(self, part: str, rows: Rows, column: Column, values: Floats) -> None:
        """Raise `InputError` if a column that must be numeric holds text only: probably the wrong column."""
        name = dict(self.meaning.called).get(part)
        if name is not None and not self.rows and len(values) and np.isnan(values).all() and (example := _text_in(column)):
            problem = f"Column {quoted(name)} of {rows.file}, given as {part}=, has no numbers, e.g. {quoted(example[:40])}"
            raise InputError(f"{problem}. Were columns mixed up? Name the column of the {part} with {part}=.")

    def _labels(self, column: Column) -> Coded:
        """Return the arms that a column names."""
        encoded = encode_labels(column)
        arms = encoded.values
        if (convert := self.meaning.arm_type) is not None:
            arms = [_convert(convert, label) for label in arms]
        if self.written:
            arms = [label if label in self.indices else self.written.get(str(label), label) for label in arms]
        return encode_labels(Coded(encoded.codes, arms)) if None in arms else Coded(encoded.codes, arms)

    def _arms_shown(self, rows: Rows, why: Why, shown: Coded, truth: NDArray[np.bool_] | None) -> tuple[Ints, Ints, Pools]:
        """Return the arms shown, as indices, each row's pool, and the one pool of all arms."""
        indices = np.array([*(self.indices.get(label, -1) for label in shown.values), -1], dtype=np.int64)
        if self.meaning.arms is not None:
            why.note(indices[shown.codes] < 0, "the arm is not one of the arms given")
        if truth is not None:
            available = np.asarray(truth[np.arange(len(truth)), indices[shown.codes]])
            why.note(~available, "the arm shown is not among the available ones")
        if rows.id is not None:
            ids = labels(rows.id)
            for i in np.flatnonzero(why.good).tolist():
                self._note_id(ids[i], i, why)
        different, first = np.unique(shown.codes[why.good], return_index=True)
        for code in different[np.argsort(first)].tolist():
            indices[code] = self._index(shown.values[code])
        arm = np.where(why.good, indices[shown.codes], 0)
        return arm, np.zeros(len(arm), dtype=np.int64), Pools.of([range(len(self.arms))])

    def _note_id(self, label: Hashable, row: int, why: Why) -> None:
        if label is None:
            if self.meaning.needs_id:
                why.set(row, "the event id is missing")
        elif (known := identity(label)) in self.ids:
            why.set(row, "the event id is a duplicate")
        else:
            self.ids.add(known)

    def _lists(self, rows: Rows, why: Why, shown: list[Hashable]) -> tuple[Ints, Ints, Pools]:
        """Return the arms shown, as indices, each row's pool, and the pools that the lists of available arms define."""
        listed: Any = rows.available
        arm, pool = np.zeros(len(shown), dtype=np.int64), np.zeros(len(shown), dtype=np.int64)
        ids = None if rows.id is None else labels(rows.id)
        seen: dict[tuple[Hashable, ...], int] = {}
        members: list[list[int]] = []
        for i in np.flatnonzero(why.good).tolist():
            label = shown[i]
            available = self._set(listed[i])
            if self.meaning.arms is not None and label not in self.indices:
                why.set(i, "the arm is not one of the arms given")
            elif isinstance(available, str):
                why.set(i, available)
            elif label not in available:
                why.set(i, "the arm shown is not among the available ones")
            elif ids is not None:
                self._note_id(ids[i], i, why)
            if why.number[i] or isinstance(available, str):
                continue
            arm[i] = self._index(label)
            pool[i] = seen.setdefault(available, len(seen))
            if len(seen) > len(members):
                members.append([self._index(one) for one in available])
        return arm, pool, Pools.of(members)

    def _index(self, label: Hashable) -> int:
        index = self.indices.setdefault(label, len(self.arms))
        if index == len(self.arms):
            self.arms.append(label)
        return index

    def _set(self, value: Any) -> tuple[Hashable, ...] | str:
        """Return the arms of a list, or those that have features, or what is wrong with them."""
        if self.meaning.in_features:
            listed = read_arms(value)
            if isinstance(listed, str):
                return listed
            if listed[0] is None:
                return "the features of arms are a list, which needs available=, a column with the arms in the same order"
            return self._arms_in(listed[0])
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
            else:
                words = [word.strip() for word in key.split("|")]
        return self._arms_in(words)

    def _arms_in(self, words: Any) -> tuple[Hashable, ...] | str:
        arms = self._names(list(words))
        if not arms or any(label is None for label in arms):
            return "available is empty or has a missing arm"
        if len(set(arms)) < len(arms):
            return "an arm is listed twice in available"
        if self.meaning.arms is not None and not all(label in self.indices for label in arms):
            return "available has an arm that is not one of the arms given"
        return tuple(arms)


def _convert(convert: Callable[[Any], Hashable], label: Hashable) -> Hashable:
    try:
        return convert(label)
    except ValueError:
        return None


def _text_in(column: Column) -> str:
    """Return an example of the text in a column; "" if it has no text."""
    values = column.values if isinstance(column, Coded) else column
    return next((value for value in values if isinstance(value, str) and value), "")
