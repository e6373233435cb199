"""
Contexts as dicts: what each visitor is shown
=============================================

``hsb.HSB(arms=[...])`` takes contexts as you have them. Numbers, text and gaps need no preparation. Here is what a shop's policy shows to whom
after 20,000 visitors.
"""

import matplotlib.pyplot as plt
import numpy as np

import hsb

# %%
# Learn from a whole table at once; it is the same as one visitor after the other.

banners = ["sale", "app", "film", "premium card", "summer"]
visitors, losses, _ = hsb.problems.Banners().sample(20_000, seed=0)
policy = hsb.HSB(arms=banners, seed=0)
hsb.simulate(policy, visitors, losses)

# %%
# Then ask it about visitors one likes to know about: dicts, some of them with gaps.

people = {
    "Anna, 24, DE, iPhone, 20 h": {"country": "DE", "age": 24, "device": "ios", "hour": 20, "is_member": False, "spend": 15},
    "Ben, 67, GB, web, 10 h, member": {"country": "GB", "age": 67, "device": "web", "hour": 10, "is_member": True, "spend": 90},
    "Carla, IT, Android, noon": {
        "country": "IT",
        "age": None,
        "device": "android",
        "hour": 12,
        "is_member": False,
        "spend": 20,
    },
    "Dirk, 35, NL, Android, 21 h": {
        "country": "NL",
        "age": 35,
        "device": "android",
        "hour": 21,
        "is_member": False,
        "spend": 25,
    },
    "Eva, DE, web, 9 h, spends little": {
        "country": "DE",
        "age": 50,
        "device": "web",
        "hour": 9,
        "is_member": False,
        "spend": 4,
    },
    "somebody": {},
}
probabilities = np.array([policy.probabilities(person) for person in people.values()])

# %%
# Each row adds up to one.

figure, ax = plt.subplots(figsize=(8.5, 4), layout="constrained")
ax.imshow(probabilities, cmap="viridis", vmin=0, vmax=1, aspect="auto")
for (row, column), probability in np.ndenumerate(probabilities):
    ax.text(column, row, f"{probability:.0%}", ha="center", va="center", color="black" if probability > 0.6 else "white")
ax.set_xticks(range(5), banners)
ax.set_yticks(range(len(people)), list(people))
ax.set_title("The probability that a visitor is shown a banner (synthetic shop)")
plt.show()
