"""Categories and tags that a policy is to forget: the names go, what was learned stays."""

import hsb
from hsb.policy.renaming import rename_texts


def taught():
    policy = hsb.HSB(arms=["a", "b"], seed=0)
    for t in range(60):
        decision = policy.decide({"user": ["alice", "bob"][t % 2]})
        policy.learn(decision, reward=float((decision.arm == "a") == (t % 2 == 0)))
    return policy


def test_the_name_is_gone_and_what_was_learned_is_not():
    policy = taught()
    before = policy.probabilities({"user": "alice"})
    assert rename_texts(policy, lambda text, tries: f"somebody {tries}" if text == "alice" else None)
    assert policy.probabilities({"user": "somebody 0"}).tolist() == before.tolist()
    assert not any("alice" in name for name in policy.learner.reader.column_names)


def test_a_name_that_nobody_had_changes_nothing():
    policy = taught()
    before = policy.digest()
    assert not rename_texts(policy, lambda text, tries: "x" if text == "carol" else None)
    assert policy.digest() == before
