"""Whole tables and logs of contexts with named features: in parts, between which the encoder learns what is new."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..learners.encoded import FEWEST
from ..policy.arms import EVERYTHING
from ..policy.decision import Decision
from ..policy.rows import Rows
from ..types import Floats, Ints, Masks
from .mixture import Mixture
from .one_feature import OneFeature

CHUNK = 1024  # rows encoded at once


class FeatureTables(OneFeature, listed=False):
    """A policy with an encoder, on many rows."""

    _due = property(lambda self: 0, lambda self, rounds: None)  # always: an encoder observes every round
    _raws: tuple[int, Floats] = (0, np.empty((0, 0)))
    """Raw rows that are being learned, and how many rounds had been when they were begun."""

    @property
    def named_columns(self) -> dict[str, str | None] | None:
        return self.encoder.named_columns

    def _parts(self, points: Any, n: int) -> Any:
        """Cut rows where the encoder changes: (start, stop, raw rows), or (row, row + 1, None) for one that has something new."""
        at, size = 0, FEWEST
        while at < n:
            encoder = self.encoder
            left = (1 << max(1, encoder.rows.bit_length())) - encoder.rows if encoder.rows >= 1 else 1
            stop = min(n, at + size, at + left)
            raw, news = points.raw(encoder, at, stop)
            size = min(2 * size, CHUNK)
            if news.any():
                stop, size = at + int(np.argmax(news)), FEWEST
            known, stop = stop > at, max(stop, at + 1)
            yield at, stop, raw[: stop - at] if known else None
            at = stop

    def _play(self, points: Any, masks: Masks, losses: Floats, us: Floats, arms: Ints, chances: Floats, to_come: int) -> None:
        self.locator.forget()
        for start, stop, raw in self._parts(points, len(us)):
            some = slice(start, stop)
            if raw is None:
                offered = masks[start] if not masks[start].all() else EVERYTHING
                self._locate_row(points[start])
                arms[start], chances[start] = index, chance = self._floored(offered, float(us[start]))
                self._note(index)
                self._learn_row(offered, index, float(losses[start, index]), chance)
                continue
            self._visited = False
            self._begin()
            self._raws = self.rounds, raw
            keys = self.locator.keys_of(raw)
            table = self.state.tables.Rounds(keys, masks[some] if masks.shape[1] else None, None, losses[some], us[some])
            out = self.state.tables.Out(arms[some], chances[some], np.empty(stop - start))
            for part in self._stretches(stop - start):
                self.state.play(table, out, part, done=self._done)
            self._end()

    def learn_rows(self, rows: Rows, chances: Floats) -> None:
        self._which = np.arange
        try:
            self._learn_parts(rows, chances)
        except BaseException:
            self._settle()
            raise

    def _learn_parts(self, rows: Rows, chances: Floats) -> None:
        self.locator.forget()
        for start, stop, raw in self._parts(rows.points, len(rows.arm)):
            some = slice(start, stop)
            if raw is None:
                self._locate_row(rows.points[start])
                self._plain = True
                self._learn_row(rows.offered(start), int(rows.arm[start]), float(rows.losses[start]), float(chances[start]))
                continue
            self._visited = False
            self._begin()
            self._raws = self.rounds, raw
            table = self.state.tables.Rounds(
                self.locator.keys_of(raw),
                rows.masks,
                rows.pool[some],
                rows.losses[some],
                None,
                rows.arm[some],
                np.ascontiguousarray(chances[some]),
            )
            for part in self._stretches(stop - start):
                self.state.set_shift(0.0)
                self.state.learn(table, part, done=self._done)
            self.state.set_shift(self._shift)
            self._end()

    def replay_rows(self, rows: Rows) -> Ints:
        return super(Mixture, self).replay_rows(rows)

    def _propose_rows(self, contexts: list[Any], us: list[float]) -> list[Decision | None]:
        if self.even > 0.0 or self.offer.removed:
            return super()._propose_rows(contexts, us)
        made: list[Decision | None] = [None] * len(us)
        read, raws, places = self.encoder.read, [], []
        for place, context in enumerate(contexts):
            try:
                raws.append(read(context))
            except InputError:
                continue
            places.append(place)
        self._visited = False
        locator, decide, arms = self.locator, self.state.decide, self.arms
        keys = locator.keys_of(np.array(raws).reshape(len(raws), self.encoder.slots))
        for place, key, seen in zip(places, keys, keys[:, locator.room + 1 :] >> locator.shifts, strict=True):
            index, chance = decide(key, None, us[place])
            made[place] = each = Decision(context=contexts[place], arm=arms[index], propensity=chance)
            each.offered, each.rounds, each.advised, each.seen = len(arms), self.rounds, self._advice_on(index), seen
        return made
