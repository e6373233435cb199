"""
Arms that come and go
=====================

Articles get old and new ones arrive. ``add_arm`` and ``remove_arm`` work while a policy plays. A new arm is tried as soon as it is there. What
was learned of the others stays.
"""

import matplotlib.pyplot as plt
import numpy as np

import hsb

# %%
# Two articles at first. A better one comes after 3,000 visits and is taken away after 6,000.

rng = np.random.default_rng(0)
likes = {"elections": 0.25, "recipes": 0.15, "football": 0.45}
policy = hsb.HSB(hsb.BinaryTree(depth=3), arms=["elections", "recipes"], seed=0)
shown = []
for visit in range(9_000):
    if visit == 3_000:
        policy.add_arm("football")
    if visit == 6_000:
        policy.remove_arm("football")
    decision = policy.decide(rng.random())
    policy.learn(decision, reward=float(rng.random() < likes[decision.arm]))
    shown.append(decision.arm)

# %%
# The share of each article in windows of 300 visits.

windows = np.array(shown).reshape(-1, 300)
shares = np.array([(windows == arm).mean(axis=1) for arm in likes])
figure, ax = plt.subplots(figsize=(8.5, 3.8), layout="constrained")
middle = 300 * np.arange(windows.shape[0]) + 150
labels = [f"{arm}: clicked by {probability:.0%}" for arm, probability in likes.items()]
ax.stackplot(middle, shares, colors=[hsb.plot.arm_colour(i, 3) for i in range(3)], labels=labels)
for at, word in ((3_000, "football comes"), (6_000, "and goes")):
    ax.axvline(at, color="white", linewidth=1.5)
    ax.annotate(word, (at, 0.97), xycoords=("data", "axes fraction"), va="top", bbox={"color": "white", "alpha": 0.8})
ax.set(xlabel="visit", ylabel="share of visits", xlim=(150, 8_850), ylim=(0, 1))
ax.set_title("What HSB shows while articles come and go (synthetic)")
ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
plt.show()
