"""
The partition it believes in
============================

With two features a binary tree halves them in turn. The policy finds out how fine the cells must be, and where: it splits where the arms
differ and leaves the rest whole.
"""

import matplotlib.pyplot as plt
import numpy as np

import hsb

# %%
# Three arms whose expected losses are waves over age and spend.

problem = hsb.problems.TwoFeatures(model=3)
policy = hsb.HSB(problem.structure(depth=8), arms=3, horizon=40_000, seed=0)
problem.play(policy, 40_000, seed=0)

# %%
# Left: the arm that is best in truth. Right: the partition with the largest probability and its arms, paler where the policy is less sure.

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.6), layout="constrained")
side = (np.arange(200) + 0.5) / 200
points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
best = problem.expected(points, np.zeros(len(points), dtype=int), 1).argmin(axis=1)
colours = np.array([hsb.plot.arm_colour(arm, 3) for arm in range(3)])
left.imshow(colours[best].reshape(200, 200, 3), origin="lower", extent=(0, 1, 0, 1), aspect="auto")
left.set(xlabel="age", ylabel="spend")
left.set_title("The best arm in truth", loc="left", fontsize=10)
policy.explain(names=["age", "spend"]).plot(right)
right.set_title("What HSB believes after 40,000 rounds", loc="left", fontsize=10)
figure.suptitle("Two features, three arms (synthetic)")
plt.show()
