"""Who plays: every contextual policy of each library, at its default and over a few other settings.

The settings are Vowpal Wabbit's as in the bake-off paper (greedy, few per cent of exploration, 4 and 16 policies, doubly robust or
importance-weighted regression, mellowness .1 to .001, higher learning rates, costs 0 and 1 or -1 and 0), and for the others those of the
comparison with peers.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from peers.base import Algorithm, Library, Settings

from .ours import DEFAULT
from .worker import find

OURS = "hsb: HSB, default"
MANY, ONE = 3, 1  # permutations
LINEAR, COLUMNS, WABBIT = ("standard", "unit"), ("standard",), ("standard", "unscaled")


class Rival(NamedTuple):
    """One row of the page: an algorithm of a library, the settings that are tried (what differs from the default), the forms of the rows."""

    name: str
    library: str
    algorithm: str
    others: tuple[Settings, ...] = ()
    forms: tuple[str, ...] = COLUMNS
    permutations: int = ONE
    instead: Settings = {}  # noqa: RUF012  # what the default is here, where the adapter's is another
    main: bool = True  # also in the quick run

    def settings(self, of: Algorithm) -> list[Settings]:
        """The default first."""
        default = {**of.default, **self.instead}
        return [default, *({**default, **other} for other in self.others)]


class Entry(NamedTuple):
    """A rival with one setting and one form of the rows."""

    rival: Rival
    settings: Settings
    form: str
    default: bool

    @property
    def label(self) -> str:
        """A name for all that it is."""
        return json.dumps([self.rival.name, self.form, self.settings], sort_keys=True)


def _vw(name: str, algorithm: str, *others: Settings, main: bool = False, **more: Any) -> Rival:
    return Rival(f"VW: {name}", "vowpalwabbit", algorithm, others, WABBIT, MANY, main=main, **more)


RIVALS = (
    Rival(OURS, "hsb", DEFAULT, (), ("mixed",), MANY),
    Rival("hsb: HSB, confident", "hsb", DEFAULT, (), ("mixed",), MANY, instead={"learning_rate": "confident"}),
    Rival(
        "hsb: LinUCB",
        "hsb",
        "LinUCB",
        (
            {"alpha": 0.3},
            {"alpha": 0.1},
            {"alpha": 0.3, "ridge": 0.1},
            {"alpha": 0.15, "ridge": 0.1},
            {"alpha": 0.05, "ridge": 0.1},
        ),
        LINEAR,
        MANY,
    ),
    _vw(
        "epsilon-greedy",
        "epsilon-greedy",
        {"epsilon": 0.0},
        {"epsilon": 0.02},
        {"epsilon": 0.02, "learning_rate": 3.0},
        {"epsilon": 0.02, "cb_type": "dr"},
        {"epsilon": 0.0, "learning_rate": 3.0},
        {"epsilon": 0.02, "shift": -1.0},
        {"epsilon": 0.0, "shift": -1.0},
        main=True,
    ),
    _vw(
        "first",
        "epsilon-greedy",
        {"first": 50},
        {"first": 200},
        {"first": 50, "learning_rate": 3.0},
        instead={"epsilon": 0.0, "first": 100},
    ),
    _vw(
        "bag",
        "bag",
        {"bag": 4, "greedify": True},
        {"bag": 16},
        {"bag": 16, "greedify": True},
        {"bag": 16, "greedify": True, "learning_rate": 3.0},
        {"bag": 16, "greedify": True, "shift": -1.0},
    ),
    _vw(
        "cover",
        "cover",
        {"cover": 4, "psi": 0.01, "nounif": True},
        {"cover": 4, "psi": 0.1, "nounif": True, "cb_type": "dr"},
        {"cover": 16, "psi": 0.1, "nounif": True, "cb_type": "dr"},
        {"cover": 4, "psi": 0.1, "nounif": True, "cb_type": "dr", "learning_rate": 3.0},
        {"cover": 4, "psi": 0.1, "nounif": True, "cb_type": "dr", "shift": -1.0},
        main=True,
    ),
    _vw(
        "regcb",
        "regcb",
        {"mellowness": 0.01},
        {"mellowness": 0.001},
        {"mellowness": 0.01, "learning_rate": 3.0},
        {"mellowness": 0.001, "learning_rate": 3.0},
    ),
    _vw(
        "regcbopt",
        "regcb",
        {"mellowness": 0.01},
        {"mellowness": 0.001},
        {"mellowness": 0.01, "learning_rate": 3.0},
        {"mellowness": 0.001, "learning_rate": 3.0},
        instead={"regcbopt": True},
        main=True,
    ),
    _vw(
        "squarecb",
        "squarecb",
        {"gamma_scale": 30.0},
        {"gamma_scale": 100.0},
        {"gamma_scale": 1000.0},
        {"gamma_scale": 100.0, "learning_rate": 3.0},
        {"gamma_scale": 1000.0, "learning_rate": 3.0},
        main=True,
    ),
    _vw("softmax", "softmax", {"lambda": 10.0}, {"lambda": 30.0}, {"lambda": 100.0}, {"lambda": 30.0, "learning_rate": 3.0}),
    Rival(
        "river: LinUCBDisjoint",
        "river",
        "LinUCBDisjoint",
        ({"alpha": 0.1, "beta": 0.1}, {"alpha": 0.01, "beta": 0.1}, {"alpha": 0.01}),
        LINEAR,
    ),
    Rival(
        "MABWiser: LinUCB",
        "mabwiser",
        "LinUCB",
        (
            {"alpha": 0.3, "first": 50},
            {"alpha": 0.1, "first": 50},
            {"alpha": 0.3, "l2_lambda": 0.1, "first": 50},
            {"alpha": 0.3, "l2_lambda": 0.1},
        ),
        LINEAR,
    ),
    Rival(
        "MABWiser: LinTS",
        "mabwiser",
        "LinTS",
        ({"alpha": 0.3}, {"alpha": 0.1, "first": 50}, {"alpha": 0.1, "l2_lambda": 0.1}),
        LINEAR,
        main=False,
    ),
    Rival(
        "MABWiser: TreeBandit",
        "mabwiser",
        "TreeBandit",
        ({"tree_parameters": {"min_samples_leaf": 10}, "refit": 1.5}, {"alpha": 0.1, "refit": 1.5}),
        main=False,
    ),
    Rival("MABWiser: Radius", "mabwiser", "Radius", ({"alpha": 0.1},), ("unit",), instead={"radius": 0.5}, main=False),
    Rival("MABWiser: Clusters", "mabwiser", "Clusters", ({"n_clusters": 8, "alpha": 0.3},), main=False),
    Rival(
        "contextualbandits: LinUCB",
        "contextualbandits",
        "LinUCB",
        (
            {"use_float": False, "first": 50, "alpha": 0.3, "ucb_from_empty": False},
            {"use_float": False, "first": 50, "alpha": 0.1, "ucb_from_empty": False},
            {"use_float": False, "alpha": 0.1, "ucb_from_empty": False, "beta_prior": "auto"},
            {"use_float": False, "alpha": 0.3, "lambda_": 0.1},
        ),
        LINEAR,
    ),
    Rival(
        "contextualbandits: LinTS",
        "contextualbandits",
        "LinTS",
        ({"first": 50, "sample_from": "ci", "v_sq": 0.1}, {"sample_from": "ci", "v_sq": 0.3, "beta_prior": "auto"}),
        LINEAR,
        main=False,
    ),
    Rival(
        "contextualbandits: BootstrappedUCB",
        "contextualbandits",
        "BootstrappedUCB",
        ({"first": 50, "base": "ridge", "penalty": 1.0},),
        main=False,
    ),
    Rival(
        "contextualbandits: SoftmaxExplorer",
        "contextualbandits",
        "SoftmaxExplorer",
        ({"first": 50, "base": "ridge", "penalty": 1.0, "inflation_rate": None, "multiplier": 10.0},),
        main=False,
    ),
    Rival(
        "contextualbandits: PartitionedUCB",
        "contextualbandits",
        "PartitionedUCB",
        ({"first": 50, "min_samples_leaf": 10},),
        main=False,
    ),
    Rival("coba: linucb", "coba", "linucb", ({"alpha": 0.3}, {"alpha": 0.1}), LINEAR),
    Rival("coba: lints", "coba", "lints", ({"v": 0.1},), LINEAR, main=False),
    Rival("coba: rnd", "coba", "rnd", ({"epsilon": 0.0, "features": [1, "a", "ax"]},), main=False),
    Rival("coba: corral", "coba", "corral", ({"mode": "off-policy"},), main=False),
)


def entries(rivals: tuple[Rival, ...], *, defaults_and_first: bool = False) -> list[Entry]:
    """Every setting in every form; or, of each rival, the default and the first other setting in the first form."""
    found = []
    for rival in rivals:
        algorithm = next(one for one in find(rival.library).algorithms if one.name == rival.algorithm)
        settings = rival.settings(algorithm)[: 2 if defaults_and_first else None]
        forms = rival.forms[: 1 if defaults_and_first else None]
        found += [
            Entry(rival, one, form, number == 0 and form == rival.forms[0])
            for form in forms
            for number, one in enumerate(settings)
        ]
    return found


def libraries(rivals: tuple[Rival, ...]) -> dict[str, Library]:
    """By the names of their files."""
    return {rival.library: find(rival.library) for rival in rivals}
