"""
A mixture that sharpens
=======================

HSB starts with every mapping from contexts to arms at once. Each reward makes the good ones weigh more, and the mixture sharpens where it
matters. Here a context is one number, and three arms have expected losses that cross.
"""

import matplotlib.pyplot as plt
import numpy as np

import hsb

# %%
# One policy plays the paper's first problem, with the paper's constant rate. It is looked at four times on the way.

problem = hsb.problems.Stationary()
contexts, losses, _ = problem.sample(20_000, seed=1)
policy = hsb.HSB(problem.structure(depth=7), arms=3, horizon=20_000, seed=1)
grid = (np.arange(128) + 0.5) / 128
best = problem.expected(grid[:, None], np.zeros(128, dtype=int), 1).argmin(axis=1)

# %%
# The height of a colour is the probability of its arm. The strip on top shows the arm that is best in truth.

figure, axes = plt.subplots(1, 4, figsize=(11, 3.4), sharey=True, layout="constrained")
colours, done = [hsb.plot.arm_colour(arm, 3) for arm in range(3)], 0
for ax, rounds in zip(axes, (50, 500, 3_000, 20_000), strict=True):
    hsb.simulate(policy, contexts[done:rounds], losses[done:rounds])
    done = rounds
    shares = np.array([policy.probabilities(x) for x in grid]).T
    ax.stackplot(grid, shares, colors=colours, labels=["arm 0", "arm 1", "arm 2"])
    ax.scatter(grid, np.full(128, 1.06), c=[colours[arm] for arm in best], marker="s", s=14)
    ax.set(title=f"after {rounds:,} rounds", xlabel="context", xlim=(0, 1), ylim=(0, 1.1))
axes[0].set_ylabel("probability of an arm\n(strip on top: the best arm)")
figure.suptitle("What HSB would play, at four moments (synthetic)")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
plt.show()
