"""
Structures side by side
=======================

A structure says how a region of contexts may split, and so which rules are cheap to learn. The same 3,000 visits, four ways to cut the day.
"""

import matplotlib.pyplot as plt
import numpy as np

import hsb

# %%
# At night, from 22 to 6, the first arm is best. In the morning it is the second, for the rest of the day the third.

rng = np.random.default_rng(0)
hours = rng.integers(0, 24, 3_000).astype(float)
best = np.select([(hours >= 22) | (hours < 6), hours < 11], [0, 1], 2)
losses = (rng.random((3_000, 3)) < np.where(np.arange(3) == best[:, None], 0.2, 0.6)).astype(float)

# %%
# Trees cut at fixed places, ``Lexicographic`` anywhere. A ``Hierarchy`` cuts as you say: here all hours may split into the three parts of the
# day, and a part into its hours.

parts = {"night": [*range(6), 22, 23], "morning": [*range(6, 11)], "rest": [*range(11, 22)]}
nodes = {"day": {"leaves": list(range(24)), "groups": [list(parts)]}}
nodes |= {part: {"leaves": inside, "groups": [[f"{hour} h" for hour in inside]]} for part, inside in parts.items()}
nodes |= {f"{hour} h": {"leaves": [hour]} for hour in range(24)}
space = hsb.Box([0], [24])
structures = {
    "BinaryTree, depth 5": hsb.BinaryTree(depth=5, space=space),
    "KaryTree, three parts, depth 3": hsb.KaryTree(k=3, depth=3, space=space),
    "Lexicographic, 24 leaves": hsb.Lexicographic(leaves=24, space=space),
    "Hierarchy: night, morning, rest": hsb.Hierarchy(nodes, space=hsb.Cells(24)),
}

# %%
# Each strip is the most probable mapping that was learned; paler is less sure.

figure, axes = plt.subplots(len(structures), 1, figsize=(8.5, 5.6), sharex=True, layout="constrained")
for ax, (name, structure) in zip(axes, structures.items(), strict=True):
    policy = hsb.HSB(structure, arms=3, horizon=3_000, seed=0)
    run = hsb.simulate(policy, hours, losses)
    policy.explain(names=["hour"]).plot(ax)
    ax.set_title(f"{name}: average loss {run.average_loss:.3f}", loc="left", fontsize=10)
    ax.set_xlabel("")
    if ax is not axes[0]:
        ax.get_legend().remove()
axes[-1].set(xlabel="hour", xlim=(0, 24), xticks=range(0, 25, 2))
figure.suptitle("What four structures learned from the same visits (synthetic)")
plt.show()
