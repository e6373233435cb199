"""Yahoo!'s Today Module logs, R6A and R6B: text, plain or gzip, one file or many."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from ...checks import listed, one_of, path_of, whole
from ...logs.batch import Batch, Pools
from ...logs.formats.text import BOM, DAMAGE, EmptyLines, cut_off, open_bytes
from ...logs.limits import LIMITS, Limits
from ...logs.log import Log, OnError, Problem, Problems
from ...logs.writing import FEATURES

if TYPE_CHECKING:
    from .kernels import yahoo as kernels

Format = Literal["yahoo-r6b", "yahoo-r6a"]

CHUNK = 1 << 22  # bytes read at once; longer lines are skipped
CANDIDATES = 1024  # at most, in a line
POOLS, MEMBERS = 4096, 1 << 17  # at most, in a batch
SECTION = 1 << 15  # bytes of a line's candidates that are compared with the next line's


class YahooLog(Log):
    """Visits of the Today Module: features of the user, the article shown, click or not, and the articles it was drawn from.

    `hsb.logs.open` makes it from `paths`, Yahoo!'s files of R6A or R6B (`format`). The article was drawn uniformly, so its propensity is
    1 / (articles to choose from). A feature that a line does not name is 0. Malformed lines are skipped and listed in `problems`, or with
    `on_error="raise"` raise `FileError`; a compressed file that is cut off always does. Memory does not grow with the log. `rows` is the most
    rows of a batch, `limits` is how far a reader goes.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "log"
    ...     _ = path.write_text("1317513291 id-4 0 |user 1 9 |id-4 |id-7\\n1317513292 id-5 1 |user 1 |id-4 |id-7\\n")
    ...     log = YahooLog([path], format="yahoo-r6b")
    ...     batches = list(log)
    >>> log.arms, batches[0].propensity.tolist(), log.problems.first[0].reason
    (['id-4', 'id-7'], [0.5], 'the article shown is not among the candidates')
    """

    uniform = True

    def __init__(
        self, paths: Sequence[Path], *, format: Format, on_error: OnError = "skip", rows: int = 1 << 13, limits: Limits = LIMITS
    ) -> None:
        super().__init__()
        self.limits = limits
        self.paths = [path_of("a log", path) for path in listed("paths", paths, 1 << 20)]
        self.format = one_of("format", format, FEATURES)
        self.on_error: OnError = one_of("on_error", on_error, ("skip", "raise"))
        self.rows = whole("rows", rows, 1, 1 << 24)
        self.features = FEATURES[format]
        self._prefix = "" if format == "yahoo-r6a" else "id-"

    @cached_property
    def _labels(self) -> "kernels.Labels":
        """The articles seen so far, in the order of `arms`, for the kernel. Created at the first use, which imports the kernels."""
        from .kernels import yahoo

        return yahoo.Labels(np.zeros(256, dtype=np.int64), np.full(1024, -1, dtype=np.int64))

    def __repr__(self) -> str:
        return f"YahooLog({[str(path) for path in self.paths]}, format={self.format!r})"

    def __iter__(self) -> Iterator[Batch]:
        self.problems = Problems()
        reading = _Reading(self)
        for path in self.paths:
            yield from reading.file(path)
        if reading.state[reading.kernels.ROWS]:
            yield reading.batch()


class _Reading:
    """One pass over the files, with the current batch."""

    def __init__(self, log: YahooLog) -> None:
        from .kernels import yahoo

        self.kernels = yahoo
        self.log = log
        self.is_r6a = log.format == "yahoo-r6a"
        self.state = np.zeros(yahoo.STATE, dtype=np.int64)
        stamp = np.full(len(log._labels.keys), -1, dtype=np.int64)
        self.scratch = yahoo.Scratch(np.zeros(SECTION, dtype=np.uint8), np.zeros(CANDIDATES, dtype=np.int64), stamp)
        self.out = self._fresh()

    def file(self, path: Path) -> Iterator[Batch]:
        """Read a file; yield full batches."""
        raw = bytearray(CHUNK + 1)
        buf = np.frombuffer(raw, dtype=np.uint8)
        held, too_long, ended, begun = 0, False, False, False
        self.state[self.kernels.LINES] = 0
        self.blank = EmptyLines(path, self.log.limits)
        with open_bytes(path, self.log.limits) as stream:
            while not ended:
                try:
                    got = stream.readinto(memoryview(raw)[held:CHUNK])  # type: ignore[attr-defined]
                except DAMAGE as error:
                    raise cut_off(path, int(self.state[self.kernels.LINES]), error) from None
                end = held + got
                ended = got == 0
                if ended and end:
                    raw[end] = self.kernels.NEWLINE  # the last line may have no newline
                    end += 1
                start = 0
                if not begun and end >= len(BOM):
                    begun, start = True, len(BOM) * raw.startswith(BOM)
                if too_long:  # skip the rest of that line
                    start = raw.find(b"\n", 0, end) + 1 or end
                    too_long = not raw.endswith(b"\n", 0, start)
                stop = raw.rfind(b"\n", start, end) + 1 or start
                yield from self._parse(buf, start, stop, path)
                held = end - stop
                if held == CHUNK:
                    too_long, held = True, 0
                    self.state[self.kernels.LINES] += 1
                    self._problem(path, f"the line is longer than {CHUNK} bytes")
                elif held and stop:
                    raw[:held] = raw[stop:end]

    def _parse(self, buf: NDArray[np.uint8], start: int, stop: int, path: Path) -> Iterator[Batch]:
        k = self.kernels
        while True:
            labels, stamp = self.log._labels, self.scratch.stamp
            if len(stamp) < len(labels.keys):
                new = np.full(len(labels.keys) - len(stamp), -1, dtype=np.int64)
                self.scratch = self.scratch._replace(stamp=np.append(stamp, new))
            self.state[k.ARMS] = len(self.log.known_arms)
            why, start = k.parse(buf, start, stop, self.is_r6a, self.state, self.out, labels, self.scratch)
            self.log.known_arms += [
                f"{self.log._prefix}{key}" for key in labels.keys[len(self.log.known_arms) : self.state[k.ARMS]]
            ]
            if why == k.MORE:
                return
            if why == k.FULL:
                yield self.batch()
            elif why == k.LABELS:
                self._more_labels()
            else:
                if why == k.EMPTY:
                    self.blank.add(int(self.state[k.LINES]))
                self._problem(path, REASONS[why - k.EMPTY].format(features=self.log.features, candidates=CANDIDATES))

    def batch(self) -> Batch:
        """Return the rows so far as a batch, and begin another."""
        k, out, n = self.kernels, self.out, int(self.state[self.kernels.ROWS])
        sets = Pools(out.starts[: self.state[k.POOLS] + 1].copy(), out.members[: self.state[k.MEMBERS]].copy())
        pool, arms = out.pool[:n], tuple(self.log.known_arms)
        batch = Batch(out.contexts[:n], out.shown[:n], out.click[:n], 1.0 / sets.sizes[pool], out.time[:n], pool, sets, arms)
        self.state[[k.ROWS, k.POOLS, k.MEMBERS, k.SECTION]] = 0
        self.scratch.stamp[:] = -1
        self.out = self._fresh()
        return batch

    def _fresh(self) -> "kernels.YahooColumns":
        n, d = self.log.rows, self.log.features
        starts, members = np.zeros(POOLS + 1, dtype=np.int64), np.empty(MEMBERS, dtype=np.int64)
        shown, pool = np.empty((2, n), dtype=np.int64)
        return self.kernels.YahooColumns(np.empty(n), shown, np.empty(n), np.empty((n, d)), pool, starts, members)

    def _more_labels(self) -> None:
        """Make room for twice as many articles, or for all articles of a line."""
        old = self.log._labels.keys
        size = max(2 * len(old), len(self.log.known_arms) + CANDIDATES)
        labels = self.kernels.Labels(np.zeros(size, dtype=np.int64), np.empty(1 << (4 * size - 1).bit_length(), dtype=np.int64))
        labels.keys[: len(old)] = old
        self.kernels.refill(labels, len(self.log.known_arms))
        self.log._labels = labels

    def _problem(self, path: Path, reason: str) -> None:
        self.log.skip_line(Problem(str(path), int(self.state[self.kernels.LINES]), reason), self.log.on_error)


REASONS = (  # in the order of the kernel's codes
    "the line is empty",
    "it does not begin with a time, a whole number of seconds",
    "the second word is not an article's name",
    "the third word is neither 0 nor 1, a click",
    "there is no |user after the click",
    "a user feature is not one of 1 .. {features} in the format's form",
    "a user feature is given twice",
    "no features after |user",
    "a candidate is not |<article>",
    "an article's feature is not <number>:<value>",
    "no candidates",
    "more than {candidates} candidates",
    "a candidate is listed twice",
    "the article shown is not among the candidates",
)
