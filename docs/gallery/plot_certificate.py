"""
How a certificate shrinks
=========================

``policy.certificate()`` says how much more than by a fixed mapping was lost, at most, in the very rounds that were played. It needs no
assumption about the world. It is computed from what the policy saw.
"""

import matplotlib.pyplot as plt
import numpy as np

import hsb

# %%
# Play, stop now and then, and write down what is certified.

problem, rounds = hsb.problems.Stationary(), 100_000
contexts, losses, expected = problem.sample(rounds, seed=2)
tree = problem.structure(depth=4)
policy = hsb.HSB(tree, arms=3, seed=2)
marks = np.unique(np.geomspace(100, rounds, 30).astype(int))
played, certified, bounds, done = [], [], [], 0
for mark in marks:
    played.append(hsb.simulate(policy, contexts[done:mark], losses[done:mark]).losses)
    certified.append(policy.certificate().average)
    bounds.append(policy.regret_bound(int(mark)) / mark)
    done = mark

# %%
# Below it, what was really lost more than by the best arm for each context. Above it, what theory promised before the first round.

lost = np.cumsum(np.concatenate(played))[marks - 1] / marks
best = np.cumsum(expected.min(axis=1))[marks - 1] / marks
look = hsb.plot.looks(["HSB"])["HSB"]
figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
ax.plot(marks, bounds, color=look.colour, linestyle=":", label="promised beforehand (the bound)")
ax.plot(marks, certified, color=look.colour, linestyle="--", marker="s", markersize=4, label="certified by the rounds played")
ax.plot(marks, lost - best, color=look.colour, marker="o", markersize=4, label="what was lost more, in truth")
ax.set(xscale="log", xlabel="rounds", ylabel="regret a round, at most", ylim=(0, 1.02))
ax.set_title("HSB's certificate in one run (synthetic)")
ax.legend(frameon=False)
plt.show()
