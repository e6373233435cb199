"""A comparison of candidates as a page."""

import numpy as np

import hsb
import hsb.logs
from hsb.evaluate.off_policy.report import page


def test_it_has_every_candidate_and_names_are_only_text():
    rng = np.random.default_rng(0)
    table = {
        "x": rng.random(500),
        "arm": rng.choice(["a", "b"], 500),
        "p": np.full(500, 0.5),
        "click": rng.integers(2, size=500),
    }
    log = hsb.logs.open(table, context="x", arm="arm", propensity="p", reward="click")
    comparison = hsb.evaluate.compare_off_policy({"<b>uniform</b>": None, "always a": "a"}, log)
    text = page(comparison)
    assert "&lt;b&gt;uniform" in text and "<b>uniform" not in text and "always a" in text
    assert text.lstrip().lower().startswith("<!doctype html") and "<script" not in text and "src=" not in text
