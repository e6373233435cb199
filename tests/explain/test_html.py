"""Rules as a table for notebooks."""

import hsb
from hsb.explain.html import page


def test_names_are_only_text():
    policy = hsb.HSB(hsb.BinaryTree(depth=2), arms=["<script>alert(1)</script>", "b"], learning_rate=0.1, seed=0)
    for _ in range(200):
        decision = policy.decide(0.3)
        policy.learn(decision, loss=float(decision.arm == "b"))
    explanation = page(policy.explain())
    assert "<script" not in explanation and "&lt;script" in explanation


def test_every_rule_that_is_shown_has_a_row():
    policy = hsb.HSB(hsb.BinaryTree(depth=2), arms=["a", "b"], learning_rate=0.1)
    explanation = policy.explain()
    assert page(explanation).count("<tr") >= len(explanation.rules)
