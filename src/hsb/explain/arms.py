"""`ArmsExplanation`: which features of arms matter, and with which features of the context. `explain` returns it for open arms."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..data_frame import data_frame
from ..errors import InputError, quoted
from .result import TOP

CLEAR = 3.0  # a change is clear if it is at least so many of its errors
SHOWN = 4  # levels of a feature that are printed


class Effect(NamedTuple):
    """The change of the predicted reward if an arm has a level of a feature."""

    level: str
    """The level: a category, "true", "missing", an arc of a cycle; "higher values" of a number."""
    per: str
    """For a number "per standard deviation (8.2)", with that deviation in its units; otherwise empty."""
    change: float
    """The average change of the predicted reward; for a number that of a value higher by one standard deviation."""
    error: float
    """The standard deviation of this change according to the model."""
    share: float
    """The share of the recent rounds in which the arm played had this level; for a number, in which it was known."""

    @property
    def is_clear(self) -> bool:
        """Whether the change is at least three of its errors."""
        return abs(self.change) >= CLEAR * self.error

    def __str__(self) -> str:
        earn = "earn" if self.per else "earns"
        return f"{self.level} {earn} {_more(self.change)}, {_change(self)}{self.per and ' '}{self.per}"


class ArmFeature(NamedTuple):
    """A feature of arms and what it changes."""

    name: str
    """Its name."""
    size: float
    """The average size of the change of the predicted reward if the feature takes the value of another arm, in the same context."""
    effects: tuple[Effect, ...]
    """Its levels, those that explain most first. A level is compared with the other values of the feature."""

    def __str__(self) -> str:
        clear = [str(effect) for effect in self.effects if effect.is_clear]
        return f"{self.name}: {'; '.join(clear[:SHOWN]) or 'no clear effect on average'}"


class Interaction(NamedTuple):
    """A level of an arm's feature that changes the predicted reward more in some contexts than in others."""

    arm: str
    """The level of the arm's feature, e.g. "topic is news" or "higher price"."""
    context: str
    """The level of the context's feature, in the same words."""
    change: float
    """The difference between the changes in contexts with and without that level, all other features alike."""
    error: float
    """The standard deviation of this change according to the model."""
    size: float
    """The part of the predictions' standard deviation that is due to it."""

    @property
    def is_clear(self) -> bool:
        """Whether the change is at least three of its errors."""
        return abs(self.change) >= CLEAR * self.error

    def __str__(self) -> str:
        return f"{self.arm}: {_more(self.change)} if {self.context}, {_change(self)}"


class ArmPlays(NamedTuple):
    """An arm with a model of its own."""

    arm: Hashable
    """The arm."""
    plays: int
    """The number of its rounds learned since the policy knows it."""
    reward: float
    """Its average reward in these rounds."""

    def __str__(self) -> str:
        return f"{self.arm!r}: {self.plays:,} plays, average reward {self.reward:.3g}"


@dataclass(frozen=True, repr=False)
class ArmsExplanation:
    """The effects of features of arms as a policy with `arms=hsb.Open()` has learned them. `policy.explain()` returns it.

    All changes are those of the reward that the model shared by all arms predicts, before its forecast is weighed against that with an arm's
    own model and cut to the range of rewards. They are averages over the contexts of the recent rounds, 2,048 at most, each with every arm
    played in these rounds. Forecasts are no causes: features that always come together share one effect.

    `print` shows it, `.plot()` draws the effects, `.to_frame()` has them as a table.

    >>> import hsb
    >>> policy = hsb.HSB(arms=hsb.Open(), seed=0)
    >>> for t in range(300):
    ...     arms = {"a": {"price": t % 10, "topic": "news"}, "b": {"price": t % 7, "topic": "sport"}}
    ...     decision = policy.decide({"hour": t % 24}, arms=arms)
    ...     policy.learn(decision, reward=1 - arms[decision.arm]["price"] / 10)
    >>> explanation = policy.explain(top=1)
    >>> explanation.features[0].name, explanation.features[0].effects[0].change < 0
    ('price', True)
    >>> explanation
    ArmsExplanation(2 features, 300 rounds, 2 known arms)
    """

    features: tuple[ArmFeature, ...]
    """The features of arms, the largest first."""
    interactions: tuple[Interaction, ...]
    """The strongest interactions of a feature of arms with one of contexts, one for each pair of features, the largest first."""
    weights: dict[str, float]
    """The present weights of the models' advice ("advice"), of single groups ("groups"), and of rules on one feature ("rules")."""
    groups: dict[Hashable, float]
    """The weight of each group among single groups."""
    arms: tuple[ArmPlays, ...]
    """The known arms, those with the most plays first."""
    rounds: int
    """The number of recent rounds over which changes are averaged."""
    mixed: bool
    """Whether products of features share columns of the model, so that some effects are mixed with others."""
    top: int | None = TOP
    """The number of features, interactions and arms that are printed; None: all."""

    def __post_init__(self) -> None:
        if self.top is not None and (not isinstance(self.top, int | np.integer) or isinstance(self.top, bool) or self.top < 1):
            raise InputError(
                f"top must be the number of features to print, at least 1, or None for all; given {quoted(self.top)}."
            )

    def __repr__(self) -> str:
        return f"ArmsExplanation({len(self.features)} features, {self.rounds:,} rounds, {len(self.arms)} known arms)"

    def __str__(self) -> str:
        lines = [f"  {feature.size:.3f}  {feature}" for feature in self.features[: self.top]]
        for title, entries in self._sections():
            lines += [title, *(f"  {entry}" for entry in entries)]
        return "\n".join([self.lead, *lines, *self._notes()])

    @property
    def lead(self) -> str:
        """The first line: what the changes are averages of."""
        if not self.rounds:
            return "Nothing is learned yet."
        if not self.features:
            return "The arms played had no features."
        return f"Features of arms, by how much they change the predicted reward on average (last {self.rounds:,} rounds)"

    def _sections(self) -> list[tuple[str, Sequence[Any]]]:
        clear = [interaction for interaction in self.interactions if interaction.is_clear]
        parts = [("Together with the context", clear), ("Known arms with the most plays", self.arms)]
        return [(title, entries[: self.top]) for title, entries in parts if entries]

    def _notes(self) -> list[str]:
        notes = []
        if len(self.groups) > 1 and self.rounds:
            order = sorted(self.groups.items(), key=lambda pair: -pair[1])[: self.top]
            notes.append(f"Weights of single groups: {', '.join(f'{_group(label)} {weight:.2f}' for label, weight in order)}.")
            shares = ", ".join(f"{name} {weight:.2g}" for name, weight in self.weights.items())
            notes.append(f"Weights in the mixture: {shares}.")
        if self.mixed:
            notes.append("There are more products of features than columns: some share a column, and their effects are mixed.")
        return notes

    def _repr_html_(self) -> str:
        from ..plotting.html_table import html_table

        rows = [(f"{feature.size:.3f}", str(feature)) for feature in self.features[: self.top]]
        more = [f"{title}: {'; '.join(map(str, entries))}" for title, entries in self._sections()]
        return html_table(["size", "feature of arms"], rows, lead=self.lead, notes=[*more, *self._notes()])

    def to_dict(self) -> dict[str, Any]:
        """Return a dict of plain data."""
        return {
            "features": [
                {"name": name, "size": size, "effects": [effect._asdict() for effect in effects]}
                for name, size, effects in self.features
            ],
            "interactions": [interaction._asdict() for interaction in self.interactions],
            "weights": self.weights,
            "groups": [list(pair) for pair in self.groups.items()],
            "arms": [arm._asdict() for arm in self.arms],
            "rounds": self.rounds,
            "mixed": self.mixed,
        }

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each effect: feature, size, level, per, change, error, share."""
        rows = [(name, size, *effect) for name, size, effects in self.features for effect in effects]
        return data_frame(rows, ["feature", "size", *Effect._fields])

    def plot(self, ax: Any = None) -> Any:
        """Draw the largest effects as bars, with matplotlib, and return the axes. `ax`: axes to draw into; default: new ones."""
        from ..plotting.explanations import plot_effects

        return plot_effects(self, ax)


def _more(change: float) -> str:
    return "more" if change > 0.0 else "less"


def _change(part: Effect | Interaction) -> str:
    return f"{part.change:+.3f} ± {part.error:.3f}"


def _group(label: Hashable) -> str:
    return f"{label[0]} {label[1]}" if isinstance(label, tuple) and len(label) == 2 else str(label)
