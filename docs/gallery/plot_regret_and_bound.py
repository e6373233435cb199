"""
Regret against the bound
========================

Regret is what was lost more than by the best policy that knows the model. A theorem bounds it, whatever the world does. Practice stays far
below: the bound holds for the worst of all worlds.
"""

import matplotlib.pyplot as plt
import numpy as np

import hsb

# %%
# A world whose best mapping has three regions that are cells of the tree. So the best policy is one of the mappings that the bound speaks of.


class ThreeParts(hsb.problems.Problem):
    """Below 1/4 the first arm is best, then the second, from 1/2 on the third."""

    def __init__(self) -> None:
        super().__init__(arms=3)

    def expected(self, contexts, when, rounds):
        best = np.digitize(contexts[:, 0], [0.25, 0.5])
        return np.where(np.arange(3) == best[:, None], 0.2, 0.6)


tree, rounds = hsb.BinaryTree(depth=4), 50_000
policies = {
    "HSB": lambda seed: hsb.HSB(tree, arms=3, seed=seed),
    "HSB-BT": lambda seed: hsb.HSB(tree, arms=3, horizon=rounds, seed=seed),
    "S-EXP3": lambda seed: hsb.SExp3(tree, arms=3, horizon=rounds, seed=seed),
}

# %%
# ``plot_regret`` draws the proved bound of each policy that has a structure in the policy's colour, dotted.

compared = hsb.evaluate.compare(policies, ThreeParts(), rounds=rounds, runs=8)
compared.plot_regret()
plt.show()
