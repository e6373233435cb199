"""The table of a policy in a notebook."""

import hsb
from hsb.policy.notebook_table import html


def test_it_says_what_the_policy_is():
    policy = hsb.HSB(arms=["red", "green"], seed=0)
    policy.learn(policy.decide({"age": 30}), reward=1.0)
    page = html(policy)
    assert "HSB" in page and "red" in page and "green" in page
    assert page == policy._repr_html_()


def test_names_are_only_text():
    page = html(hsb.Exp3(arms=["<script>alert(1)</script>", "b"], learning_rate=0.1))
    assert "<script" not in page and "&lt;script" in page


def test_it_is_short_however_many_arms_there_are():
    assert len(html(hsb.Exp3(arms=5000, learning_rate=0.1))) < 20_000
