"""
Candidates on a log
===================

A log of past decisions, with the probability of each, can say what other policies would have earned. ``compare_off_policy`` judges several on
the same events, with intervals and a verdict for each.
"""

import matplotlib.pyplot as plt
import numpy as np

import hsb

# %%
# A shop showed three banners at random and wrote down who clicked.

rng = np.random.default_rng(0)
age, arm = rng.uniform(18, 80, 9_000), rng.integers(0, 3, 9_000)
click = rng.random(9_000) < np.where(arm == (3 * (age - 18) / 62).astype(int), 0.30, 0.10)
banners = np.array(["sale", "app", "film"])
table = {"age": age, "banner": banners[arm], "p": np.full(9_000, 1 / 3), "click": click.astype(float)}
log = hsb.logs.open(table, context="age", arm="banner", propensity="p", reward="click")

# %%
# A policy learns from the first third. Is it better than the best single banner, and than probability? The other two thirds say.

tree = hsb.BinaryTree(depth=5, space=hsb.Box([18], [80]))
learned = hsb.HSB(tree, arms=banners.tolist(), seed=0)
hsb.learn_from(learned, log.head(3_000))
rest = hsb.logs.log.LogPart(log, 3_000, None)
candidates = {"HSB, learned": learned, "always app": "app", "always sale": "sale", "uniform": None}
found = hsb.evaluate.compare_off_policy(candidates, rest, baseline="uniform", seed=0)
print(found)

# %%
# Intervals that touch the line say nothing either way.

axes = found.plot()
axes[0].figure.suptitle("What four candidates would have earned (synthetic log)")
plt.show()
