"""A synthetic shop: which banner was shown to whom, and whether it was clicked. Mixed columns with missing values."""

import csv

import numpy as np

ARMS = ["sale", "app", "film"]
CONTEXT = ["country", "device", "is_member", "spend", "hour"]
PARTS = {"arm": "shown", "propensity": "p", "reward": "click"}
OPTIONS = ["--arm", "shown", "--propensity", "p", "--reward", "click"]


def shop(rows, seed=0):
    """Return columns. Each banner has its visitors: the sale those of FR and those without a known spend; the app members on ios; the
    film those of the evening. Shown uniformly."""
    rng = np.random.default_rng(seed)
    country = rng.choice(["FR", "DE", "IT", ""], rows)
    device = rng.choice(["ios", "web"], rows)
    member = rng.random(rows) < 0.4
    spend = np.where(rng.random(rows) < 0.3, np.nan, rng.gamma(2.0, 30.0, rows).round(2))
    hour = rng.integers(0, 24, rows)
    shown = rng.integers(0, 3, rows)
    probability = np.select(
        [shown == 0, shown == 1],
        [0.05 + 0.15 * (country == "FR") + 0.1 * np.isnan(spend), 0.05 + 0.3 * (device == "ios") * member],
        0.05 + 0.15 * (hour >= 18),
    )
    click = rng.random(rows) < probability
    return {
        "country": [name or None for name in country.tolist()],
        "device": device.tolist(),
        "is_member": member.tolist(),
        "spend": [None if x != x else x for x in spend.tolist()],
        "hour": hour.tolist(),
        "shown": [ARMS[k] for k in shown],
        "p": [1 / 3] * rows,
        "click": click.astype(int).tolist(),
    }


def write_csv(path, columns):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def write_parquet(path, columns):
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table(columns), path, row_group_size=333)
    return path
