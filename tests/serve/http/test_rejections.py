"""Requests that were refused: counted, and a few of them kept."""

from hsb.serve.http import rejections

KEPT = next(kind for kind in vars(rejections).values() if isinstance(kind, type) and kind.__module__ == rejections.__name__)


def noted(kept, count, kind="unknown-arm", policy="home"):
    for k in range(count):
        kept.note(policy, kind, 422, f"detail {k}", "/available/0", f"r{k}")


def test_the_most_frequent_is_first_and_a_few_are_kept():
    kept = KEPT()
    noted(kept, 3, "other")
    noted(kept, 100)
    first, second = kept.of("home")
    assert (first["count"], second["count"]) == (100, 3)
    assert [each["request_id"] for each in first["first"]] == [f"r{k}" for k in range(rejections.FEW)]
    assert first["last"][-1]["request_id"] == "r99" and len(first["last"]) == rejections.FEW


def test_policies_are_told_apart_and_can_be_forgotten():
    kept = KEPT()
    noted(kept, 2)
    noted(kept, 1, policy="other")
    kept.forget("home")
    assert kept.of("home") == [] and kept.counts() == {("other", "unknown-arm"): 1}


def test_memory_is_bounded():
    kept = KEPT()
    for k in range(5 * rejections.MOST):
        kept.note("home", f"kind {k}", 422, "x" * 10_000, None, "r")
    assert len(kept.counts()) <= 2 * rejections.MOST + 1
    assert all(len(each["first"][0]["detail"]) <= 1000 for each in kept.of("home"))
