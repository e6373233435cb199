"""Which features of arms matter to a policy with open arms, by the weights of its shared model (`engine/kernels/open_arms.py`).

Its forecast is linear in the encoded context x and in the encoded arm g. So the average change over all pairs of a context and an arm of the
recent rounds is that at the average x. A *level* of a feature is a vector: how the encoded rows with the level differ from the others.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engine.kernels import inputs as at
from ..engine.state import Member
from ..engine.state.views import OptionsView
from ..features import FeatureReader
from ..policy.loss_range import LossScale
from ..types import Floats
from .arms import ArmFeature, ArmPlays, ArmsExplanation, Effect, Interaction
from .columns import NEW, Column, coded
from .featured import columns_of_features
from .pieces import TIE, log_options, log_shares

if TYPE_CHECKING:
    from ..learners.arm_models import ArmModels

ARCS = 8  # parts of a cycle
MOST_PAIRS = 256  # interactions that are returned


class FeatureLevel(NamedTuple):
    """A level of a feature, in words, and the vector by which it changes an encoded row."""

    name: str
    text: str
    per: str
    change: Floats
    share: float
    spread: float
    """The standard deviation of the level's indicator; of a number, in standard deviations."""


class RecentRows:
    """Contexts or arms of the recent rounds: their raw rows, encoded rows, and the levels of each input."""

    def __init__(self, reader: FeatureReader, raw: Floats) -> None:
        self.reader, self.raw = reader, np.ascontiguousarray(raw)
        self.rows = _encoded(reader, self.raw)
        self.mean: Floats = self.rows.mean(axis=0)
        self.levels = [self._levels(s, column) for s, column in enumerate(columns_of_features(reader))]

    def exchanged(self, s: int, order: NDArray[np.intp]) -> Floats:
        """Return by how much the encoded rows change if input s takes the values of other rows."""
        other = self.raw.copy()
        other[:, s] = self.raw[order, s]
        return _encoded(self.reader, other) - self.rows

    def _levels(self, s: int, column: Column) -> list[FeatureLevel]:
        values = self.raw[:, s]
        alone = np.full(self.raw.shape, np.nan)
        alone[:, s] = values
        rows, missing = _encoded(self.reader, alone), np.isnan(values)
        levels = []
        if self.reader.layout.I[s, at.KIND] == at.CYCLE:
            levels = [_arc(column, values, rows, k) for k in range(ARCS)]
        elif column.kind == "number":
            levels = [self._number(s, column.name, values[np.isfinite(values)])]
        else:
            codes = coded([column], values[:, None])[:, 0].astype(np.int64)
            wanted = [1] if column.kind == "flag" else [code for code in np.unique(codes).tolist() if code > NEW]
            levels = [_level(column.label(code), column.condition(frozenset({code})), rows, codes == code) for code in wanted]
        levels.append(_level("missing", f"{column.name} is missing", rows, missing))
        return [level for level in levels if level is not None]

    def _number(self, s: int, name: str, values: Floats) -> FeatureLevel | None:
        deviation = float(values.std()) if len(values) else 0.0
        if not 0.0 < deviation < np.inf:
            return None
        ends = np.full((2, self.raw.shape[1]), np.nan)
        ends[:, s] = values.mean() + deviation * np.array([-0.5, 0.5])
        low, high = _encoded(self.reader, ends)
        share = len(values) / len(self.raw)
        return FeatureLevel(
            "higher values", f"higher {name}", f"per standard deviation ({deviation:.3g})", high - low, share, share**0.5
        )


def _encoded(reader: FeatureReader, raw: Floats) -> Floats:
    rows, cells = np.empty((len(raw), reader.columns)), np.empty((len(raw), reader.trees), dtype=np.int64)
    reader.encode_rows(raw, rows, cells)
    return rows


def _level(name: str, text: str, rows: Floats, within: NDArray[np.bool_]) -> FeatureLevel | None:
    """Return the level of some rows, compared with the others; None if there are no others."""
    share = float(within.mean())
    if not 0.0 < share < 1.0:
        return None
    change = rows[within].mean(axis=0) - rows[~within].mean(axis=0)
    return FeatureLevel(name, text, "", change, share, (share * (1.0 - share)) ** 0.5)


def _arc(column: Column, values: Floats, rows: Floats, k: int) -> FeatureLevel | None:
    period = column.high or 1.0
    low, high = k * period / ARCS, (k + 1) * period / ARCS
    text = column.condition((low, high))
    return _level(text.removeprefix(f"{column.name} "), text, rows, (values >= low) & (values < high))


class Forecasts:
    """The shared model of recent rounds, in units of rewards."""

    def __init__(self, models: ArmModels, width: float) -> None:
        from ..engine.kernels import open_arms as kernels  # loads the engine: on first use

        where, shared = models.models.where, models.models.shared
        room, order = kernels.room_of(models.models), models.recent.order(models.outcomes)
        self.where, self.shared = where, shared[where]
        self.covariance = shared[room:].reshape(room, room)
        self.contexts = RecentRows(models.x_reader, models.recent.context[order])
        self.arms = RecentRows(models.arm_reader, models.recent.arm[order])
        self.width = width
        forecasts = 0.5 + np.einsum("ti,ij,tj->t", self.contexts.rows, self.shared, self.arms.rows)
        self.deviation = float(np.sqrt(np.mean((models.recent.losses[order] - forecasts) ** 2)))

    def change(self, of_context: Floats, of_arm: Floats) -> float:
        """Return the change of the predicted reward."""
        return -self.width * float(of_context @ self.shared @ of_arm)

    def error(self, of_context: Floats, of_arm: Floats) -> float:
        """Return the standard deviation of a change."""
        weights = np.zeros(len(self.covariance))
        np.add.at(weights, self.where, np.outer(of_context, of_arm))
        return self.width * self.deviation * math.sqrt(max(0.0, float(weights @ self.covariance @ weights)))

    def features(self) -> list[ArmFeature]:
        """Return the features of arms, the largest first."""
        rng, n = np.random.default_rng(0), len(self.arms.rows)
        slopes = self.contexts.rows[rng.permutation(n)] @ self.shared
        order = rng.permutation(n)
        features = []
        for s, name in enumerate(self.arms.reader.raw_input_names):
            size = self.width * float(np.abs((slopes * self.arms.exchanged(s, order)).sum(axis=1)).mean())
            features.append(ArmFeature(name, size, tuple(self.effects(self.arms.levels[s]))))
        return sorted(features, key=lambda feature: -feature.size)

    def effects(self, levels: Sequence[FeatureLevel]) -> list[Effect]:
        """Return the average effects of the levels of a feature, those that explain most first."""
        mean = self.contexts.mean
        changes = [self.change(mean, level.change) for level in levels]
        order = sorted(range(len(levels)), key=lambda k: -abs(changes[k]) * levels[k].spread)
        return [
            Effect(levels[k].name, levels[k].per, changes[k], self.error(mean, levels[k].change), levels[k].share)
            for k in order
        ]

    def interactions(self) -> list[Interaction]:
        """Return the strongest interaction of each pair of features, the largest first."""
        pairs = []
        for of_contexts in filter(None, self.contexts.levels):
            for of_arms in filter(None, self.arms.levels):
                x, g = (np.array([level.change * level.spread for level in levels]) for levels in (of_contexts, of_arms))
                changes = -self.width * (x @ self.shared @ g.T)
                i, j = _largest(changes, -(self.contexts.mean @ self.shared @ g.T))
                pairs.append((abs(float(changes[i, j])), of_contexts[i], of_arms[j]))
        pairs.sort(key=lambda pair: -pair[0])
        return [
            Interaction(
                arm.text, _if(context), self.change(context.change, arm.change), self.error(context.change, arm.change), size
            )
            for size, context, arm in pairs[:MOST_PAIRS]
        ]


def _largest(changes: Floats, averages: Floats) -> tuple[int, int]:
    """Return the position of the largest change. Two categories always have opposite ones: then the one that means more reward, for the
    level of the arm that has the larger average too."""
    sizes = np.abs(changes)
    equal = np.argwhere(sizes >= (1.0 - TIE) * sizes.max()).tolist()
    i, j = max(equal, key=lambda pair: (changes[pair[0], pair[1]] > 0.0, averages[pair[1]]))
    return i, j


def _if(level: FeatureLevel) -> str:
    return f"{level.text.removeprefix('higher ')} is higher by a standard deviation" if level.per else level.text


def mixture_weights(members: Sequence[Member], labels: Sequence[Hashable]) -> tuple[dict[str, float], dict[Hashable, float]]:
    """Return the weights of advice, single groups and rules on one feature, and the share of each group among single groups.

    `members`: those of the mixture over groups, a head over advice, a single cell, and trees.
    """
    head, single = OptionsView(members[0]), members[2]
    options = np.exp(log_options(head.F, np.array([head.row]), head.options)[0])
    advice, groups, *rules = (options / options.sum()).tolist()
    blocks = single.kind.blocks(single)
    shares = np.exp(log_shares(single, blocks)[0]) if len(blocks) else np.full(len(labels), 1.0 / len(labels))
    weights = {"advice": advice, "groups": groups, "rules": float(sum(rules))}
    return weights, dict(zip(labels, shares.tolist(), strict=True))


def explain_arms(
    models: ArmModels, losses: LossScale, members: Sequence[Member], labels: Sequence[Hashable], top: int | None
) -> ArmsExplanation:
    """Return what the models have learned about features of arms, and the mixture over groups about these."""
    weights, groups = mixture_weights(members, labels)
    empty = ArmsExplanation((), (), weights, groups, (), 0, mixed=False, top=top)  # raises if `top` is invalid
    if models.rounds == 0:
        return empty
    low, high = (0.0, 1.0) if losses.auto else losses.rewards
    forecasts = Forecasts(models, high - low)
    where, known = models.models.where, models.known
    totals = known.totals[: len(known.names)]
    order = np.argsort(-totals[:, 0], kind="stable").tolist()
    arms = [
        ArmPlays(known.names[k], int(totals[k, 0]), high - (high - low) * float(totals[k, 1] / totals[k, 0]))
        for k in order
        if totals[k, 0] > 0.0
    ]
    return ArmsExplanation(
        tuple(forecasts.features()),
        tuple(forecasts.interactions()),
        weights,
        groups,
        tuple(arms),
        len(forecasts.arms.rows),
        mixed=len(np.unique(where)) < where.size,
        top=top,
    )
