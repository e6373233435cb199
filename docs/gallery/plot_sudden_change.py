"""
A sudden change, and the recovery
=================================

After a third of the rounds the arms change places. Policies that trust the past go on playing what was good. HSB's default notices.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

import hsb

# %%
# The same data for every policy, ten times over. Losses are averaged over windows of 500 rounds.

problem = hsb.problems.SuddenChange(at=1 / 3)
tree, rounds = problem.structure(depth=6), 15_000
policies = {
    "HSB": lambda seed: hsb.HSB(tree, arms=3, seed=seed),
    "HSB-BT": lambda seed: hsb.HSB(tree, arms=3, horizon=rounds, seed=seed),
    "S-EXP3": lambda seed: hsb.SExp3(tree, arms=3, horizon=rounds, seed=seed),
    "TreeThompson": lambda seed: hsb.TreeThompson(tree, arms=3, seed=seed),
}
windows = np.arange(0, rounds + 1, 500)
compared = hsb.evaluate.compare(policies, problem, rounds=rounds, runs=10, marks=windows[1:].tolist())

# %%
# "HSB-BT" is the paper's algorithm with a constant rate.

figure, ax = plt.subplots(figsize=(8.5, 4.2), layout="constrained")
for name, look in hsb.plot.looks(policies).items():
    lost = [compared.interval(name, since=int(a), until=int(b)).mean for a, b in pairwise(windows)]
    ax.plot(windows[1:] - 250, lost, label=name, marker=look.marker, markersize=3.5, **look.line())
ax.axhline(compared.best, color="0.3", linewidth=1, linestyle=":", label="best policy that knows the model")
ax.axvline(rounds / 3, color="0.5", linewidth=1)
ax.annotate(" the arms change places", (rounds / 3, 0.98), xycoords=("data", "axes fraction"), va="top")
ax.set(xlabel="round", ylabel="average loss in a window of 500 rounds", title="A sudden change (synthetic)", ylim=(0, 0.85))
ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
plt.show()
