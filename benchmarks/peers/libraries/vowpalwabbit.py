"""Vowpal Wabbit: reductions to online regression, six ways to explore. Costs are the losses themselves."""

from __future__ import annotations

import random
from bisect import bisect
from itertools import accumulate
from typing import Any

from ..base import Algorithm, Floats, Library, Play, Player, Settings, Table

COMMON: Settings = {"cb_type": "mtr", "learning_rate": 0.5, "power_t": 0.5}
BITS = 22  # of the weight table; with the usual 18, fifty arms times ten policies share weights


class Vowpal(Player):
    """`--cb_explore`: one line a round, a model of its own for each arm, its constant included.

    A row is parsed once: the example waits in `keep`, is given its label and learned from. VW draws nothing here; we draw from its PMF.
    Settings are VW's options, and `shift`, which is added to every loss: -1 makes losses 0 and 1 into costs -1 and 0.
    """

    def __init__(self, table: Table, settings: Settings) -> None:
        from vowpalwabbit import PredictionType, Workspace

        own = {name: value for name, value in settings.items() if name != "shift"}
        options = " ".join(f"--{name}" if value is True else f"--{name} {value}" for name, value in own.items())
        self._vw = Workspace(f"--cb_explore {table.arms} {options} --bit_precision {BITS} --random_seed {table.seed} --quiet")
        self._kind = PredictionType.ACTION_PROBS
        self._last = table.arms - 1
        self._shift = settings.get("shift", 0.0)
        self._uniform = random.Random(table.seed).random

    def prepare(self, X: Floats) -> list[str]:
        """Lines of text without the zeros. Names must not be integers: VW does not hash those, and neighbours would share weights."""
        return ["| " + " ".join([f"x{i}:{value:.9g}" for i, value in enumerate(row) if value != 0.0]) for row in X.tolist()]

    def decide(self, x: str) -> Play:
        """Draw from the PMF, which is float32 and, for ties in regcbopt, not yet normalized."""
        example = self._vw.parse(x)
        probabilities = self._vw.predict(example, self._kind)
        sums = list(accumulate(probabilities))
        arm = bisect(sums, self._uniform() * sums[-1], 0, self._last)
        return Play(arm, probabilities[arm] / sums[-1], example)

    def learn(self, x: str, play: Play, loss: float) -> None:
        """Label `arm:cost:probability`, arms from 1."""
        label = f"{play.arm + 1}:{loss + self._shift}:{play.propensity:.9g}"
        example: Any = play.keep
        if example is None or example.finished:
            self._vw.learn(f"{label} {x}")
            return
        example.unsetup_example()
        example.set_label_string(label)
        example.setup_example()
        self._vw.learn(example)
        self._vw.finish_example(example)


def algorithm(name: str, default: Settings, *others: Settings, says: str = "") -> Algorithm:
    """Settings are VW's own options; the others change the default."""
    default = {**default, **COMMON}
    return Algorithm(name, Vowpal, default, tuple({**default, **other} for other in others), says=says)


ADF = (
    "Documented for --cb_explore_adf, to which VW translates --cb_explore; "
    "about the same losses there, at twice the time with 3 arms and seven times with 50."
)

LIBRARY = Library(
    name="Vowpal Wabbit",
    package="vowpalwabbit",
    module="vowpalwabbit",
    source="vowpalwabbit.org, tutorial on contextual bandits; wiki, Contextual-Bandit-algorithms; vw --help",
    says="A linear model for each arm, by online gradient descent. --cb_explore throughout, the form for a fixed set of arms. "
    "One round at a time: there is no call that decides and learns many. 22 bits of weights, so that no two features share one. "
    "A decision that waits for its loss holds 30 KB, its parsed example.",
    algorithms=(
        algorithm(
            "epsilon-greedy",
            {"epsilon": 0.05},
            {"epsilon": 0.01},
            {"epsilon": 0.02, "clip_p": 0.3},
            {"epsilon": 0.02, "clip_p": 0.3, "learning_rate": 0.1},
            {"epsilon": 0.02, "power_t": 0.0},
            {"epsilon": 0.1, "clip_p": 0.1, "cb_type": "dr"},
            {"epsilon": 0.0, "first": 300},
            says="One setting of the grid explores first: 300 uniform rounds, then none.",
        ),
        algorithm(
            "bag",
            {"bag": 5, "epsilon": 0.0},
            {"bag": 10, "greedify": True},
            {"bag": 20, "learning_rate": 2.0},
            {"bag": 10, "learning_rate": 0.1, "power_t": 0.0},
            {"bag": 10, "cb_type": "dr"},
            {"bag": 10, "epsilon": 0.02, "clip_p": 0.3},
            {"bag": 10, "epsilon": 0.02, "power_t": 0.0},
            says="The number of policies is the tutorial's.",
        ),
        algorithm(
            "cover",
            {"cover": 3, "psi": 1.0},
            {"psi": 0.01},
            {"cover": 5, "psi": 0.1, "nounif": True},
            {"cover": 16, "psi": 0.1, "nounif": True},
            {"cover": 5, "psi": 0.01, "nounif": True, "learning_rate": 0.1},
            {"cover": 5, "psi": 0.01, "nounif": True, "power_t": 0.0},
            {"cover": 5, "psi": 0.01, "nounif": True, "cb_type": "dr"},
            says="The number of policies is the tutorial's. No epsilon given: VW then lets it fall as the square root of the rounds.",
        ),
        algorithm(
            "regcb",
            {"regcb": True, "mellowness": 0.1},
            {"mellowness": 0.01},
            {"mellowness": 0.001},
            {"mellowness": 0.01, "learning_rate": 2.0},
            {"mellowness": 0.01, "power_t": 0.0},
            {"mellowness": 0.01, "regcbopt": True},
            {"mellowness": 0.01, "regcbopt": True, "power_t": 0.0},
            says=ADF,
        ),
        algorithm(
            "squarecb",
            {"squarecb": True, "gamma_scale": 10.0},
            {"gamma_scale": 3.0},
            {"gamma_scale": 30.0},
            {"gamma_scale": 1000.0},
            {"learning_rate": 0.1, "power_t": 0.0},
            {"epsilon": 0.02},
            {"epsilon": 0.02, "learning_rate": 10.0},
            says=ADF,
        ),
        algorithm(
            "softmax",
            {"softmax": True, "lambda": 1.0},
            {"lambda": 10.0},
            {"lambda": 20.0},
            {"lambda": 20.0, "cb_type": "dr"},
            {"lambda": 20.0, "epsilon": 0.02, "clip_p": 0.3},
            {"lambda": 50.0},
            {"lambda": 50.0, "learning_rate": 0.1, "power_t": 0.0},
            says=ADF + " At its default, lambda 1, it stays near uniform on losses in [0, 1]; the tutorial shows 10.",
        ),
    ),
)
