"""The command `hsb warmup`: compile kernels before the first decision needs them."""

import os
import time
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import track
from typer import Option

from .. import logs
from ..evaluate import off_policy
from ..play import learn_from, replay, simulate
from ..policies import HSB
from ..policy import Policy
from ..serve.warming import exercise
from ..structures import ArbitrarySplits, BinaryTree, Lexicographic, OneOf, Structure

ROUNDS = 20
FEW, MANY = 3, 17  # arms: from 17 on there are other kernels


def states(everything: bool) -> Iterator[tuple[str, Policy]]:
    """Yield a name and a policy for each kind of state that has kernels."""
    trees: dict[str, Structure] = {"a tree": BinaryTree(depth=4), "a deep tree": BinaryTree(depth=40)}
    others: dict[str, Structure] = {"intervals": Lexicographic(leaves=4), "a hierarchy": ArbitrarySplits(leaves=4)}
    others["one of several"] = OneOf(*trees.values(), *others.values())
    for arms, suffix in ((FEW, ""), (MANY, f" with {MANY} arms")):
        yield f"no structure{suffix}", HSB(arms=arms, seed=0)
        for name, structure in {**trees, **(others if everything else {})}.items():
            yield f"the default on {name}{suffix}", HSB(structure, arms=arms, seed=0)
            if arms == FEW or everything:
                yield f"a constant rate on {name}{suffix}", HSB(structure, arms=arms, learning_rate=0.1, seed=0)


def use_policy(policy: HSB) -> None:
    """Use a policy over named features in all ways: new features, batches, a log, arms added and removed, explanations."""
    contexts: list[dict[str, Any]] = [{"x": 0.3 * t} | ({"kind": str(t % 3)} if t else {}) for t in range(ROUNDS)]
    for context in contexts:
        policy.learn(policy.decide(context), loss=1.0)
    table = {"x": [0.1, 0.9], "kind": ["1", "2"], "arm": [0, 1], "p": [0.5, 0.5], "click": [1, 0]}
    log = logs.open(table, arm="arm", propensity="p", reward="click")
    for change in ("nothing", "an arm more", "an arm less"):
        if change == "an arm more":
            policy.add_arm("new", features={"size": 1.5})
        elif change == "an arm less":
            policy.remove_arm(0)
        policy.learn(policy.decide(contexts[1]), reward=1.0)
        policy.learn_many(policy.decide_many(contexts), rewards=[0.5] * ROUNDS)
        policy.propose_many(contexts, u=[0.5] * ROUNDS)
        policy.probabilities(contexts[1])
        learn_from(policy, log)
    policy.explain()
    off_policy(policy, log)
    replay(policy, log)


def warmup(
    everything: Annotated[bool, Option("--all", help="Compile for every kind of structure; this takes some minutes.")] = False,
) -> None:
    """Compile the code of policies before their first decision.

    Compiled code is kept beside the package, in NUMBA_CACHE_DIR or in the user's cache folder, so later processes start at once.

    Example: hsb warmup --all
    """
    from ..engine.kernels.jit import engine, reason

    if engine != "numba":
        typer.echo(f"There is nothing to compile: the engine is {engine} ({reason}).")
        return
    os.environ["HSB_QUIET"] = "1"  # the progress bar shows it
    begin = time.perf_counter()
    policies = list(states(everything))
    rng = np.random.default_rng(0)
    contexts, losses = rng.random(ROUNDS), rng.random((ROUNDS, MANY))
    available = rng.random((ROUNDS, MANY)) < 0.5
    available[:, 0] = True
    for _, policy in track(policies, "compiling", console=Console(stderr=True)):
        for some in (None, [0, 1]):
            policy.learn(policy.decide(0.3, available=some), loss=1.0)
            policy.probabilities(0.3, available=some)
        count = len(policy.arms)
        simulate(policy, contexts, losses[:, :count])
        simulate(policy, contexts, losses[:, :count], available=available[:, :count])
    for arms in (FEW, MANY):
        use_policy(HSB(arms=arms, arm_features={arm: {"size": arm} for arm in range(arms)}, seed=0))
        exercise({"arms": [str(arm) for arm in range(arms)], "arm_features": {}, "policy": {"kind": "HSB"}})
    typer.echo(
        f"Compiled, or already compiled: {', '.join(name for name, _ in policies)}: {time.perf_counter() - begin:.0f} s."
    )
