"""The policy."""

import numpy as np

import hsb
from hsb.storage import _trimmed

def state(policy):
    """Everything that a policy is, byte for byte; rows that are not in use apart."""
    arrays = [array.tobytes() for member in policy._members for array in _trimmed(member)]
    ledger = policy._ledger.issued, bytes(policy._ledger.bits).rstrip(b"\0")
    counters = policy.rounds, policy.clipped, policy.learning_rate, policy.loss_range, policy.stop
    return arrays, ledger, counters, list(policy.arms), set(policy._removed), repr(policy._rng.bit_generator.state), policy._stream

def play(policy, rounds, *, seed=0, masks=False):
    rng = np.random.default_rng(seed)
    space = policy.structure.space
    seen = []
    low, high = policy.loss_range
    for _ in range(rounds):
        if isinstance(space, hsb.Cells): context = int(rng.integers(space.n))
        else:
            context = rng.uniform(space.low, space.high).tolist()
            context = context[0] if len(context) == 1 else context
        available = None
        if masks and rng.random() < 0.5:
            active = policy.active_arms
            available = [active[i] for i in rng.permutation(len(active))[: rng.integers(1, len(active) + 1)]]
        d = policy.decide(context, available=available)
        seen.append((d.arm, d.propensity, d.id))
        policy.learn(d, loss=float(rng.uniform(low, high)))
    return seen
