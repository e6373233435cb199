"""The same updates for several policies, and a digest of all that was learned; run by itself it prints them (`test_same_bits.py`)."""

import hashlib

import numpy as np

import hsb

ROUNDS = 300


def digest(policy) -> str:
    hashed = hashlib.sha256()
    for name, array in sorted(policy.to_arrays().items()):
        hashed.update(name.encode() + str((array.dtype, array.shape)).encode() + np.ascontiguousarray(array).tobytes())
    return hashed.hexdigest()


def policies(arms: int):
    tree = hsb.BinaryTree(depth=6)
    yield "default", hsb.HSB(tree, arms=arms, seed=1), 1
    yield "a rate", hsb.HSB(tree, arms=arms, learning_rate=0.3, seed=1), 1
    yield "a horizon, a stop", hsb.HSB(hsb.KaryTree(k=3, depth=4), arms=arms, horizon=ROUNDS, stop=0.3, seed=1), 1
    yield "drift", hsb.HSB(tree, arms=arms, horizon=ROUNDS, drift=0.01, seed=1), 1
    yield "two features", hsb.HSB(hsb.PositionSplits(bits=[2, 2]), arms=arms, seed=1), 2
    yield "intervals", hsb.HSB(hsb.Lexicographic(leaves=8), arms=arms, learning_rate=0.5, seed=1), 1
    yield "one of", hsb.HSB(hsb.OneOf(tree, hsb.Lexicographic(leaves=8)), arms=arms, learning_rate=0.2, seed=1), 1
    yield "Exp3", hsb.Exp3(arms=arms, learning_rate=0.1, seed=1), 1
    yield "SExp3", hsb.SExp3(16, arms=arms, seed=1), 1
    yield "Exp4", hsb.Exp4(5, arms=arms, horizon=ROUNDS, prior=[1, 2, 3, 4, 5], seed=1), 0
    yield "TreeThompson", hsb.TreeThompson(tree, arms=arms, stop=0.4, forgetting=0.99, seed=1), 1
    yield "LinUCB", hsb.LinUCB(3, arms=arms, seed=1), 3
    yield "CsbFtpl", hsb.CsbFtpl(16, arms=arms, horizon=ROUNDS, seed=1), 1
    yield "EpochGreedy", hsb.EpochGreedy(16, arms=arms, seed=1), 1


def play(policy, features: int, rounds: int, arms: int):
    rng = np.random.default_rng(7)
    for _ in range(rounds):
        x = rng.random(max(features, 1))
        context = np.eye(arms)[rng.integers(arms, size=5)] if features == 0 else float(x[0]) if features == 1 else x
        decision = policy.decide(context)
        loss = abs(float(x[0]) - decision.arm / arms)
        policy.learn(decision, loss=loss)


def named(rounds: int, arms: int):
    """Learn without a structure: dicts of a number, a category, a time of day, and missing values; an arm added with features."""
    policy = hsb.HSB(arms=arms, seed=1)
    rng = np.random.default_rng(9)
    for t in range(rounds):
        context = {"x": float(rng.normal() * 30), "kind": "abcd"[rng.integers(4)], "y": float(rng.random())}
        if t % 5 == 0:
            del context["y"]
        decision = policy.decide(context)
        policy.learn(decision, loss=min(1.0, abs(context["x"]) / 90 + 0.1 * decision.arm))
    return policy


def digests(rounds: int = ROUNDS, arms: int = 3) -> dict[str, str]:
    values = {}
    for name, policy, features in policies(arms):
        play(policy, features, rounds, arms)
        values[name] = digest(policy)
    values["no structure"] = digest(named(rounds, arms))
    return values


if __name__ == "__main__":
    for name, value in digests().items():
        print(f"{name}: {value}")
