"""
The bake-off at a glance
========================

43 real tables, each played as a bandit problem: an arm for each class, and only the loss of the arm that was played is seen. HSB takes the rows
as they are and has nothing to tune. Each rival is shown with the setting of its grid that was best over all tables, picked afterwards.
"""

from pathlib import Path

import matplotlib.pyplot as plt

import hsb

# %%
# The numbers are those of ``docs/bakeoff.md``, which ``make bakeoff`` writes.

here = Path.cwd()
page = next(folder / "docs" / "bakeoff.md" for folder in (here, *here.parents) if (folder / "docs" / "bakeoff.md").exists())
rows = [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in page.read_text().splitlines() if line.startswith("|")]
head, losses = rows[0], {row[0].replace("HSB, default", "HSB"): float(row[rows[0].index("best")]) for row in rows[2:]}
whole = {name: loss for name, loss in losses.items() if "tables)" not in name}

# %%
# Less is better. Rivals that were too slow for some tables are left out.

shown = sorted(whole.items(), key=lambda each: each[1])[:14][::-1]
looks = hsb.plot.looks([name for name, _ in shown])
figure, ax = plt.subplots(figsize=(8.5, 4.6), layout="constrained")
for at, (name, loss) in enumerate(shown):
    colour = looks[name].colour if name.startswith(("hsb", "VW")) else "0.6"
    ax.barh(at, loss, color=colour, height=0.7)
    ax.annotate(f"{loss:.3f}"[1:], (loss, at), xytext=(4, 0), textcoords="offset points", va="center", fontsize=9)
ax.set_yticks(range(len(shown)), [name for name, _ in shown])
ax.set(xlabel="average loss (less is better)", xlim=(0, 0.34))
ax.set_title("Who loses least on 43 real tables")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
