"""
Which features matter
=====================

``explain()`` asks a policy what it plays, and says how often the arm changes when one value is replaced by another visitor's. Large: the policy
looks at it. Nothing: it does not.
"""

import matplotlib.pyplot as plt

import hsb

# %%
# A shop with five banners. Visitors have a country, an age (or none), a device, an hour, membership and what they spent.

visitors, losses, _ = hsb.problems.Banners().sample(12_000, seed=0)
policy = hsb.HSB(arms=["sale", "app", "film", "premium card", "summer"], seed=0)
run = hsb.simulate(policy, visitors, losses)
print(f"clicks: {1 - run.average_loss:.3f} of visitors")

# %%
# The explanation prints as rules and draws itself.

explanation = policy.explain(rules=8)
print(explanation)
figure, ax = plt.subplots(figsize=(8, 3), layout="constrained")
explanation.plot_importance(ax)
ax.set_xlabel("share of visitors who would be shown another banner (synthetic shop)")
plt.show()
