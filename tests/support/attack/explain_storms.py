"""Explanations of policies after any ordinary use: tags and categories beyond their limits, missing values, features that come later.

`python tests/support/attack/explain_storms.py COUNT [SEED]`.
"""

import sys
import traceback

import numpy as np

from support.own_file_cases import Run, World

ROUNDS = 120
MOST = 12  # rules, by default


def storm(seed: int, rounds: int = ROUNDS) -> str:
    """Play in a world drawn from a seed, and explain; return "told", or the error."""
    world, rng = World(seed), np.random.default_rng([seed, 2])
    run = Run(world)
    try:
        for _ in range(rounds):
            run.round()
        before = run.policy.digest()
        for how in ({"effort": 0.2}, {"effort": 0.2, "rules": None}, {"effort": 0.05, "rules": 1}):
            explanation = run.policy.explain(**how)  # type: ignore[arg-type]
            share = sum(region.coverage for region in explanation)
            if how.get("rules", MOST) is not None and len(explanation) > how.get("rules", MOST):
                return f"WRONG {seed}: {len(explanation)} rules with {how}"
            if abs(share - 1.0) > 1e-6:
                return f"WRONG {seed}: coverage adds to {share}"
            for t in range(10):
                if explanation.arm_at(world.context(rng, t)) not in run.policy.arms:
                    return f"WRONG {seed}: an arm that there is not"
            str(explanation), explanation.to_dict()
        if run.policy.digest() != before:
            return f"WRONG {seed}: asking changed the policy"
    except Exception as error:  # whatever it is, it is reported
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return f"WRONG {seed}: {type(error).__name__} at {frame.filename.rpartition('/')[2]}:{frame.lineno}: {str(error)[:200]}"
    return "told"


def storms(count: int, seed: int = 0) -> list[str]:
    """Try `count` worlds; return the errors."""
    with np.errstate(all="ignore"):
        results = [storm(1000 * seed + k) for k in range(count)]
    return [each for each in results if each != "told"]


if __name__ == "__main__":
    bad = storms(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print(*bad, f"{sys.argv[1]} explanations, {len(bad)} wrong", sep="\n")
