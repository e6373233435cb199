"""Count the operations of a round: lines of the kernels that Python executes, without compilation. Run by `test_complexity.py`.

A line counts as one operation: the kernels of a round walk over nodes and arms in loops. No clock is read.
"""

import json
import sys

import hsb

DEPTHS, ARMS, LEAVES = (2, 4, 8, 16, 24, 48), (2, 3, 4, 8, 16, 64, 256, 1024), (4, 8, 16, 32)


def lines(act):
    """Return the number of kernel lines that `act` executes."""
    counted = 0

    def tell(frame, event, _):
        nonlocal counted
        if "/kernels/" not in frame.f_code.co_filename:
            return None
        counted += event == "line"
        return tell

    sys.settrace(tell)
    try:
        act()
    finally:
        sys.settrace(None)
    return counted


def trained(structure, arms, contexts):
    """Return a policy that has seen each of the contexts three times."""
    policy = hsb.HSB(structure, arms=arms, learning_rate=0.1, seed=0)
    for context in [*contexts] * 3:
        policy.learn(policy.decide(context), loss=0.5)
    return policy


def counted(structure, arms, contexts):
    """Return the lines of a whole round, and of all probabilities, at the last context."""
    policy, context = trained(structure, arms, contexts), contexts[-1]
    round_ = lines(lambda: policy.learn(policy.decide(context), loss=0.5))
    return [round_, lines(lambda: policy.probabilities(context))]


def worst(depth):
    """Return contexts that branch off at every node of the last one's path, so that the path contains every node."""
    return [*(2.0**-level for level in range(1, depth + 1)), 0.0]


if __name__ == "__main__":
    tree = [[counted(hsb.BinaryTree(depth=depth), arms, worst(depth)) for depth in DEPTHS] for arms in ARMS]
    lexicographic = [counted(hsb.Lexicographic(leaves=leaves), 3, [0.1, 0.9, 0.5]) for leaves in LEAVES]
    print(json.dumps({"tree": tree, "lexicographic": lexicographic}))
