"""What training from a log earns, beside plain models of scikit-learn on the same log: true values in worlds of `logged_world.py`.

    python benchmarks/training.py --seeds 10

Each seed is another world: 25,000 logged rows to learn from, and 25,000 further visitors that decisions are made for. Nothing is learned on
the way. scikit-learn's models play the arm that they predict most clicks for; the best of them in hindsight is the bar.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from logged_world import BANNERS, COLUMNS, SENSIBLE, Visitors, World

import hsb
import hsb.logs
from hsb.evaluate.off_policy.distributions import distributions
from hsb.play.named import own_contexts, read_for

ROWS = 25_000
SELDOM = 25  # rows below which scikit-learn's encoders put categories together
BAR = 0.004


def ours(train: Visitors, test: Visitors, names: list[str], *, fit: bool) -> float:
    """The true value of `hsb.learn_from`."""
    policy = hsb.HSB(arms=BANNERS, seed=0)
    hsb.learn_from(policy, _log(train, names), fit=fit)
    log = _log(test, names)
    found = [distributions(policy, batch, own_contexts(policy, batch))[0] for batch in read_for(log, [policy])]
    probabilities = np.concatenate(found)[:, [log.arms.index(banner) for banner in BANNERS]]
    return float((probabilities * test.probabilities).sum(axis=1).mean())


def theirs(train: Visitors, test: Visitors, names: list[str]) -> dict[str, float]:
    """The true values of scikit-learn's models, each greedy."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

    X, Z = _frame(train, names), _frame(test, names)
    numbers = [name for name in names if X[name].dtype.kind in "if"]
    words = [name for name in names if name not in numbers]
    shown, click = _shown(train), np.array(train.table["click"])
    each = np.arange(len(Z))
    found: dict[str, float] = {}

    scaled = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    one_hot = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=SELDOM)
    encoder = make_column_transformer((scaled, numbers), (one_hot, words))
    A, B = encoder.fit_transform(X), encoder.transform(Z)
    for strength in (1.0, 0.1, 0.01):
        columns = []
        for m in range(len(BANNERS)):
            model = LogisticRegression(C=strength, max_iter=500).fit(A[shown == m], click[shown == m])
            columns.append(model.predict_proba(B)[:, 1])
        found[f"logistic regression per arm, C={strength:g}"] = test.probabilities[each, np.argmax(columns, axis=0)].mean()

    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, min_frequency=SELDOM, encoded_missing_value=-1)
    encoder = make_column_transformer((codes, words), remainder="passthrough")
    A, B = np.asarray(encoder.fit_transform(X), dtype=float), np.asarray(encoder.transform(Z), dtype=float)
    for rounds in (60, 150):
        boosted = HistGradientBoostingClassifier(
            max_iter=rounds, learning_rate=0.05, max_leaf_nodes=15, categorical_features=[A.shape[1]], random_state=0
        ).fit(np.column_stack([A, shown]), click)
        columns = [boosted.predict_proba(np.column_stack([B, np.full(len(B), m)]))[:, 1] for m in range(len(BANNERS))]
        found[f"boosted trees on (x, arm), {rounds} rounds"] = test.probabilities[each, np.argmax(columns, axis=0)].mean()
    return {name: float(value) for name, value in found.items()}


def run(seed: int) -> dict[tuple[str, str], float]:
    """True values by columns and model."""
    world = World(seed)
    train, test = world.visitors(ROWS, 2 * seed), world.visitors(ROWS, 2 * seed + 1)
    found: dict[tuple[str, str], float] = {
        ("none", "best possible"): test.probabilities.max(axis=1).mean(),
        ("none", "uniform"): test.probabilities.mean(),
        ("none", "best single arm"): test.probabilities.mean(axis=0).max(),
    }
    everything = sorted(name for name in train.table if name not in COLUMNS.values())
    for label, names in (("nine", SENSIBLE), ("twenty", everything)):
        found[label, "hsb"] = ours(train, test, names, fit=True)
        found[label, "hsb, one pass"] = ours(train, test, names, fit=False)
        for name, value in theirs(train, test, names).items():
            found[label, name] = value
    return found


def _log(visitors: Visitors, names: list[str]) -> hsb.logs.Log:
    return hsb.logs.open({name: visitors.table[name] for name in [*names, *COLUMNS.values()]}, **COLUMNS)  # type: ignore[arg-type]


def _frame(visitors: Visitors, names: list[str]) -> Any:
    import pandas as pd

    return pd.DataFrame({name: visitors.table[name] for name in names})


def _shown(visitors: Visitors) -> np.ndarray:
    return np.array([BANNERS.index(banner) for banner in visitors.table["shown"]])


def main() -> None:
    """Print means over worlds, their standard errors, and the distance from the best of scikit-learn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    seeds = parser.parse_args().seeds
    warnings.simplefilter("ignore")
    found = []
    for seed in range(seeds):
        found.append(run(seed))
        print(f"world {seed}", {" ".join(key): round(value, 4) for key, value in found[-1].items()}, flush=True)
    for label in ("none", "nine", "twenty"):
        names = [name for columns, name in found[0] if columns == label]
        table = np.array([[each[label, name] for name in names] for each in found])
        print(f"\ncolumns: {label}")
        for j, name in enumerate(names):
            print(f"  {name:40} {table[:, j].mean():.4f} +- {_error(table[:, j]):.4f}")
        if label != "none":
            rivals = [j for j, name in enumerate(names) if not name.startswith("hsb")]
            best = rivals[int(np.argmax(table[:, rivals].mean(axis=0)))]
            behind = table[:, best] - table[:, names.index("hsb")]
            print(f"  behind {names[best]}: {behind.mean():+.4f} +- {_error(behind):.4f}, the bar is {BAR}")


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


if __name__ == "__main__":
    main()
