"""Storms: rounds with the most extreme rates, losses, propensities and contexts that are allowed. Afterwards the file can be read.

`python tests/support/attack/storms.py COUNT [SEED]`. After each storm a policy is saved and loaded, and both continue, bit for bit alike.
"""

import collections
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import hsb
from hsb.files import policy_file

sys.path.insert(0, str(Path(__file__).parents[2]))  # run as a script, too

from support.attack.forged import MAKERS, context_of, facts, loss_of

RATES = [1e-300, 1e-9, 0.3, 30.0, 1e6, 1e300]
TINY = [5e-324, 1e-320, 1e-309, 1e-300, 1e-100, 1e-9, 0.01, 0.5, 1.0]
SIZES = [1e-300, 1e-140, 1e-9, 1.0, 1e9, 1e140, 1e300]


def extreme(rng: np.random.Generator) -> hsb.Policy:
    """Return a policy with an extreme setting."""
    rate, arms = float(rng.choice(RATES)), int(rng.choice([1, 2, 3, 17]))
    kinds: list[Callable[[], hsb.Policy]] = [
        lambda: hsb.HSB(hsb.BinaryTree(depth=3), arms=arms, learning_rate=rate),
        lambda: hsb.HSB(hsb.BinaryTree(depth=52), arms=arms, learning_rate=rate, stop=float(rng.choice([0.0, 1e-9, 0.999]))),
        lambda: hsb.HSB(hsb.Lexicographic(leaves=5), arms=arms, learning_rate=rate, drift=1e-9),
        lambda: hsb.HSB(hsb.PositionSplits(bits=[1, 1]), arms=arms, learning_rate=rate, implicit=True),
        lambda: hsb.HSB(hsb.BinaryTree(depth=3), arms=arms, learning_rate=rate, drift="auto"),
        lambda: hsb.HSB(arms=arms, learning_rate=rate),
        lambda: hsb.Exp3(arms=arms, learning_rate=rate, loss_range="auto"),
        lambda: hsb.SExp3(3, arms=arms, learning_rate=rate, loss_range=(-1e300, 1e300)),
        lambda: hsb.Exp4(3, arms=arms, learning_rate=rate, prior=[1e-300, 1.0, 1e-9]),
        lambda: hsb.CsbFtpl(3, arms=arms, noise=float(rng.choice([1e-100, 1.0, 1e100]))),
        lambda: hsb.TreeThompson(hsb.BinaryTree(depth=9), arms=arms, prior=(0.5, 0.5), forgetting=0.5),
    ]
    return kinds[rng.integers(len(kinds))]()


def storm(policy: hsb.Policy, rng: np.random.Generator, rounds: int) -> None:
    """Play rounds decided here and elsewhere, and add and remove arms."""
    waiting: list[hsb.Decision] = []
    for _ in range(rounds):
        context, what = context_of(policy, rng), rng.random()
        if isinstance(context, dict):
            context["age"] = float(rng.choice(SIZES)) * float(rng.normal())
        if what < 0.4:
            arm = policy.active_arms[rng.integers(len(policy.active_arms))]
            decision = hsb.Decision(context=context, arm=arm, propensity=float(rng.choice(TINY)))
            policy.learn(decision, loss=loss_of(policy, rng))
        elif what < 0.8:
            waiting.append(policy.decide(context))
            if rng.random() < 0.8:
                policy.learn(waiting.pop(rng.integers(len(waiting))), loss=loss_of(policy, rng))
        elif what < 0.83 and len(policy.active_arms) > 1:
            policy.remove_arm(policy.active_arms[0])
        elif what < 0.86 and len(policy.arms) < 20 and not hasattr(policy, "mappings") and not isinstance(policy, hsb.Exp4):
            policy.add_arm(("new", len(policy.arms)))


def weather(k: int, seed: int, rounds: int) -> str:
    """Run one storm; return "calm", or the error."""
    rng = np.random.default_rng([seed, k])
    names = list(MAKERS)
    policy = MAKERS[names[k // 2 % len(names)]]() if k % 2 else extreme(rng)
    try:
        for _ in range(3):
            storm(policy, rng, rounds)
            twin: Any = policy_file.unpack(policy_file.pack(policy), {})
            if facts(twin) != facts(policy):
                return f"WRONG {policy!r:.200}: its file is another policy"
            future = int(rng.integers(2**31))
            for each in (policy, twin):
                storm(each, np.random.default_rng(future), 5)
            if facts(twin) != facts(policy):
                return f"WRONG {policy!r:.200}: its twin goes another way"
    except Exception as error:  # whatever it is, it is reported
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"
        return f"WRONG {policy!r:.200}: {type(error).__name__} at {where}: {str(error)[:200]}"
    return "calm"


def storms(count: int, seed: int = 0, *, rounds: int = 40) -> list[str]:
    """Run `count` storms; return the errors."""
    with np.errstate(all="ignore"):
        result = collections.Counter(weather(k, seed, rounds) for k in range(count))
    for what in result:
        if what != "calm":
            print(what, result[what], flush=True)
    return [what for what in result if what != "calm"]


if __name__ == "__main__":
    begun = time.monotonic()
    bad = storms(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print(f"{sys.argv[1]} storms, {len(bad)} wrong, {time.monotonic() - begun:.0f} s")
