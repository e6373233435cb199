"""Section VI-D, Figure 8: LandSat's six classes by error-correcting output codes, decoded by bandits."""

from typing import Any, ClassVar

import numpy as np

from ...evaluate.intervals import mean_interval
from ...learners.rates import number_or_none
from ...learners.structured import Structured
from ...play import simulate
from ...policies import HSB, Exp3, SExp3
from ...policy import Policy
from ...structures import BinaryTree, PositionSplits
from ...structures.spaces import Box
from ...types import Floats
from ..base import Analysis, Figure, Options, Part, ReportTable
from ..verdicts import WORDS
from . import Paper, ecoc
from .data import landsat
from .landsat_claims import APS, BT, BT_SHUFFLED, EPOCHS, EXP3, HAMMING, LEARNERS, OURS, S_EXP3, claims, notes, paper
from .landsat_figures import bars, gaps, side_by_side

VARIANTS: dict[str, dict[str, Any]] = {  # ways to make codewords; the first is Figure 8's
    "standardised online": {"scaling": "online", "averaged": False},
    "standardised with all rows": {"scaling": "whole", "averaged": False},
    "raw features": {"scaling": "none", "averaged": False},
    "averaged perceptrons": {"scaling": "online", "averaged": True},
}
MAIN, *OTHERS = VARIANTS
SEEDS = dict(zip(VARIANTS, (0, 1, 4, 5), strict=True))  # 2 and 3 are used for shuffled orders


class LandSat(Paper):
    """Six online perceptrons give each row a codeword of six bits; policies that see only the codeword learn which class it means."""

    name = "landsat"
    title = "LandSat: online classification with output codes (Section VI-D, Figure 8)"
    SETTINGS: ClassVar[dict[str, Any]] = {
        "code": "one-versus-all",
        "perceptrons": VARIANTS,
        "epochs": EPOCHS,
        "policies": [HAMMING, *LEARNERS, OURS, BT_SHUFFLED],
        "rates": "Corollary 1's for HSB with as many regions as classes, sqrt(2 N ln M / (T M)) for S-EXP3 and EXP3; T is the number of rows",
        "repetitions": 80,  # of the original order with each kind of perceptrons, in blocks
        "blocks": 4,
        "orders": 12,  # shuffled, each one part
        "presentations": 3,  # of each shuffled order
        "every": 1,  # 5: every fifth row
        "quick": {"repetitions": 8, "blocks": 2, "orders": 3, "presentations": 1, "every": 5},
    }
    SIZES: ClassVar[dict[str, str]] = {"runs": "repetitions"}

    def settings(self, options: Options) -> dict[str, Any]:
        settings = super().settings(options)
        repetitions = settings["repetitions"]
        blocks = max(number for number in range(1, settings["blocks"] + 1) if repetitions % number == 0)
        return settings | {"blocks": blocks}

    def parts(self, options: Options) -> list[Part]:
        settings, seed = self.settings(options), options.seed
        each, every = settings["repetitions"] // settings["blocks"], settings["every"]
        rounds = len(range(0, 6435, every)) // EPOCHS * EPOCHS * len(settings["policies"])

        def part(name: str, seeds: list[list[int]], variant: str = MAIN, order: list[int] | None = None) -> Part:
            arguments = {"policies": settings["policies"], "every": every, "order": order, "seeds": seeds} | VARIANTS[variant]
            return Part(name, f"{__name__}:classify", arguments, rounds * len(seeds))

        blocks, orders, presentations = (range(settings[name]) for name in ("blocks", "orders", "presentations"))
        return [
            *(
                part(f"{variant} {b}", [[seed, SEEDS[variant], b * each + k] for k in range(each)], variant)
                for variant in VARIANTS
                for b in blocks
            ),
            *(part(f"shuffled {n}", [[seed, 2, n, k] for k in presentations], order=[seed, 3, n]) for n in orders),
        ]

    def analyse(self, options: Options, results: dict[str, Any]) -> Analysis:
        settings = self.settings(options)
        names, blocks = settings["policies"], range(settings["blocks"])
        by_variant = {
            variant: {
                name: np.array([row for b in blocks for row in results[f"{variant} {b}"]["errors"][name]]) for name in names
            }
            for variant in VARIANTS
        }
        errors, first = by_variant[MAIN], results[f"{MAIN} 0"]
        orders = [results[f"shuffled {order}"]["errors"] for order in range(settings["orders"])]
        shuffled = {name: np.array([np.mean(order[name], axis=0) for order in orders]) for name in names}
        length = first["rows"] // EPOCHS
        rates = [[name, f"{rate:.4f}" if rate else "no rate to set"] for name, rate in first["rates"].items()]
        repeated = f"{len(errors[APS])} repetitions"
        figure8 = (
            f"Figure 8. Misclassification over {EPOCHS} consecutive epochs of {length} rows in their original order, features {MAIN}; "
            f"mean of {repeated}, 95% intervals."
        )
        same = f"Difference of the error from that of Hamming decoding; {repeated}, 95% intervals of the paired difference."
        beside = (
            f"The last three epochs for each way to make codewords, which the paper leaves open; {repeated}, 95% intervals."
        )
        shown = {name: errors[name] for name in (HAMMING, *LEARNERS, OURS)}
        gap = {name: errors[name] - errors[HAMMING] for name in (APS, BT, S_EXP3, OURS)}
        late = {
            variant: {name: each[name][:, -3:].mean(axis=1) for name in (HAMMING, APS, BT, S_EXP3, OURS)}
            for variant, each in by_variant.items()
        }
        return Analysis(
            claims=[*claims(errors), *(each for variant in OTHERS for each in paper(by_variant[variant], variant))],
            figures=[
                Figure("figure-8-landsat", figure8, lambda pyplot: bars(pyplot, shown, length)),
                Figure("landsat-gap", same, lambda pyplot: gaps(pyplot, gap, 3)),
                Figure("landsat-variants", beside, lambda pyplot: side_by_side(pyplot, late)),
            ],
            tables=[
                _by_epoch(f"Misclassification (%) by epoch, original order, {MAIN}, {repeated}", errors),
                _around(by_variant | {f"{MAIN}, shuffled orders": shuffled}),
                _verdicts(by_variant),
                ReportTable("Learning rates", ["policy", "rate"], rates),
            ],
            notes=notes(errors, shuffled, np.array(first["counts"])),
        )


def classify(
    *, policies: list[str], every: int, order: list[int] | None, scaling: str, averaged: bool, seeds: list[list[int]]
) -> dict[str, Any]:
    """Play every `every`-th row, in original or shuffled order, with each policy and seed. Returns errors by epoch."""
    X, y = landsat()
    X, y = X[::every], y[::every]
    rows = len(X) // EPOCHS * EPOCHS
    taken = (np.arange(len(X)) if order is None else np.random.default_rng(order).permutation(len(X)))[:rows]
    X, y = X[taken], y[taken]
    labels, index = np.unique(y, return_inverse=True)
    matrix = ecoc.one_versus_all(len(labels))
    scales: Any = (X.mean(axis=0), X.std(axis=0)) if scaling == "whole" else scaling
    machines = ecoc.Perceptrons(X.shape[1], columns=matrix.shape[1], scaling=scales, averaged=averaged)
    codes = machines.learn(X, matrix[index])
    points, losses = ecoc.contexts(codes), 1.0 - np.eye(len(labels))[index]
    errors: dict[str, list[list[float]]] = {name: [] for name in policies}
    rates: dict[str, float | None] = {}
    for seed in seeds:
        for name in policies:
            rng = np.random.default_rng([*seed, list(MAKERS).index(name)])
            if name == HAMMING:
                wrong = (ecoc.HammingDecoder(matrix, seed=rng).decode(codes) != index).astype(float)
            else:
                bits = rng.permutation(len(labels)) if name == BT_SHUFFLED else np.arange(len(labels))
                policy = MAKERS[name](len(labels), rows, rng)
                wrong = simulate(policy, points[:, bits], losses).losses
                rates[name] = _rate(policy)
            errors[name].append(wrong.reshape(EPOCHS, -1).mean(axis=1).tolist())
    counts = [np.bincount(epoch, minlength=len(labels)).tolist() for epoch in index.reshape(EPOCHS, -1)]
    return {"errors": errors, "rates": rates, "rows": rows, "counts": counts}


def _rate(policy: Policy) -> float | None:
    """Return the constant learning rate of a policy, if it has one."""
    return number_or_none(policy.learner.mixture.rates.learning_rate) if isinstance(policy.learner, Structured) else None


def _bt(n: int, rows: int, rng: np.random.Generator) -> Policy:
    return HSB(BinaryTree(depth=n, space=Box.unit(n)), arms=n, horizon=rows, seed=rng)


MAKERS: dict[str, Any] = {  # of (classes, rows, generator)
    HAMMING: None,
    APS: lambda n, rows, rng: HSB(PositionSplits(bits=[1] * n), arms=n, horizon=rows, seed=rng),
    BT: _bt,
    S_EXP3: lambda n, rows, rng: SExp3(PositionSplits(bits=[1] * n), arms=n, horizon=rows, seed=rng),
    EXP3: lambda n, rows, rng: Exp3(arms=n, horizon=rows, seed=rng),
    OURS: lambda n, rows, rng: HSB(PositionSplits(bits=[1] * n), arms=n, seed=rng),
    BT_SHUFFLED: _bt,
}


def _cell(values: Floats) -> str:
    mean, low, high = mean_interval(values)
    return f"{100 * mean:.1f} ± {50 * (high - low):.1f}"


def _by_epoch(title: str, errors: dict[str, Floats]) -> ReportTable:
    rows = [[name, *(_cell(column) for column in table.T), _cell(table.mean(axis=1))] for name, table in errors.items()]
    return ReportTable(title, ["policy", *(str(epoch + 1) for epoch in range(EPOCHS)), "all"], rows)


def _around(sets: dict[str, dict[str, Floats]]) -> ReportTable:
    names = list(next(iter(sets.values())))
    rows = [[name, *(_cell(errors[name][:, -3:].mean(axis=1)) for errors in sets.values())] for name in names]
    return ReportTable("Misclassification (%) in the last three epochs", ["policy", *sets], rows)


def _verdicts(by_variant: dict[str, dict[str, Floats]]) -> ReportTable:
    """Return the paper's claims, one per row, with their differences for each way to make codewords."""
    weighed = {variant: paper(errors) for variant, errors in by_variant.items()}
    rows = []
    for row in zip(*weighed.values(), strict=True):
        cells = [f"{WORDS[each.holds]}, {each.difference:+.4f} ± {(each.high - each.low) / 2:.4f}" for each in row]
        rows.append([row[0].claim, *cells])
    return ReportTable("The paper's claims for each way to make codewords", ["claim", *weighed], rows)
