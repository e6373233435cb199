"""
A service's day
===============

``hsb serve`` decides over HTTP and writes everything down. Here its core runs in this process with a clock of its own. It serves one day of
visitors, whose clicks arrive up to an hour late.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import hsb
from hsb.serve.core import Create, Decide, Now, Reward
from hsb.serve.local import Local

# %%
# 2,000 visitors. By day most come from a desk and like the news, in the evening from a phone and like a film.

rng = np.random.default_rng(0)
arms, probabilities = ["news", "film", "shop"], {"desk": (0.40, 0.05, 0.20), "phone": (0.10, 0.45, 0.20)}
seconds = np.sort(np.concatenate([rng.uniform(0, 86_400, 1_300), rng.triangular(54_000, 75_600, 86_400, 700)]))
phone = rng.random(2_000) < np.where(seconds > 61_200, 0.8, 0.2)
devices = np.where(phone, "phone", "desk").tolist()
would = np.array([rng.random(3) < probabilities[device] for device in devices])
back = seconds + rng.uniform(60, 3_600, 2_000)  # when a visitor's click, or the word that there was none, comes in


def now(at):
    """The service's clock: microseconds since 1970, and since it was started."""
    return Now(int((1_800_000_000 + at) * 1e6), int(at * 1e6) + 1)


# %%
# Every decision and every click is a message with a time. What comes within the same quarter of an hour is written together.

chosen = np.zeros(2_000, dtype=int)
with tempfile.TemporaryDirectory() as folder:
    service = Local(Path(folder) / "hsb.db", now=now(0))
    service.ask(
        Create("new", {"name": "home", "arms": arms, "feedback": {"wait": 7_200, "learn": "on_arrival"}}, bytes(32)), now(0)
    )
    for end in range(900, 86_400 + 4_500, 900):
        visits = np.flatnonzero((end - 900 <= seconds) & (seconds < end))
        asked = [Decide(f"d{k}", "home", f"visit-{k}", {"device": devices[k], "hour": int(seconds[k] // 3600)}) for k in visits]
        for k, answer in zip(visits, service.ask_all(asked, now(end)), strict=True):
            chosen[k] = arms.index(answer.body["arm"])
        due = np.flatnonzero((end - 900 <= back) & (back < end))
        service.ask_all([Reward(f"r{k}", f"visit-{k}", float(would[k, chosen[k]])) for k in due], now(end))
    service.close()

# %%
# Above: who gets the traffic, hour by hour. Below: clicks a visitor, and how many decisions wait for their feedback.

hour, clicked = (seconds // 3600).astype(int), would[np.arange(2_000), chosen]
share = [[np.mean(chosen[hour == h] == arm) for h in range(24)] for arm in range(3)]
waiting = [np.sum((seconds <= 3600 * h) & (back > 3600 * h)) for h in np.arange(0.5, 24)]
middle = np.arange(24) + 0.5
figure, (above, below) = plt.subplots(2, 1, figsize=(8.5, 5.6), sharex=True, layout="constrained")
above.stackplot(middle, share, colors=[hsb.plot.arm_colour(arm, 3) for arm in range(3)], labels=arms)
above.set(
    ylabel="share of traffic", ylim=(0, 1), xlim=(0.5, 23.5), title="A day of a service, clicks up to an hour late (synthetic)"
)
above.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
behind = below.twinx()
behind.bar(middle, waiting, color="0.85", width=0.9)
behind.set_ylabel("decisions that wait (bars)")
below.set_zorder(2)
below.patch.set_visible(False)
looks = hsb.plot.looks(["HSB", "uniform"])
below.plot(middle, [clicked[hour == h].mean() for h in range(24)], label="the service", marker="o", **looks["HSB"].line())
below.plot(middle, [would[hour == h].mean() for h in range(24)], label="arms at random", **looks["uniform"].line())
below.set(xlabel="hour of the day", ylabel="clicks a visitor", ylim=(0, 0.6), xticks=range(0, 25, 3))
below.legend(loc="upper left", ncols=2, frameon=False)
plt.show()
