"""Calls made from the signatures of everything public: each works, or is refused in hsb's own words and changes nothing."""

import inspect

import numpy as np
import pytest
from support.attack import wrong_calls

import hsb
import hsb.logs
import hsb.theory


def test_wrong_calls(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a call that works may leave a file
    outcome, failures = wrong_calls.storm(0, 3000)
    assert not failures, "\n".join(f"{what} | {why}" for what, why in failures.items())
    assert outcome["InputError"] > 1000


def test_new_functions_are_found(monkeypatch):
    def greet(name):
        return 1 / 0

    monkeypatch.setattr(hsb.theory, "greet", greet, raising=False)
    monkeypatch.setattr(hsb.theory, "__all__", [*hsb.theory.__all__, "greet"])
    assert "hsb.theory.greet" in wrong_calls.public() and inspect.isfunction(wrong_calls.public()["hsb.theory.greet"])
    _, failures = wrong_calls.storm(0, 5, only={"hsb.theory.greet"})
    assert list(failures) == ["hsb.theory.greet(name): ZeroDivisionError"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: hsb.ArbitrarySplits(leaves=2**31), "far too many"),
        (lambda: hsb.Exp3(arms=2**31), "10,000,000 at most"),
        (lambda: hsb.Exp4(2**31, arms=3), "at most"),
        (lambda: hsb.Exp3(arms=range(10**12)), "at most"),
        (lambda: hsb.encode.PCA(2**31), "components"),
        (lambda: hsb.problems.Changes(count=2**31), "count"),
        (lambda: hsb.Exp3(arms=["a", float("nan")]), "NaN"),
        (lambda: hsb.Exp3(arms=np.array("x")), "several arms"),
        (lambda: hsb.Exp3(arms=2, horizon=10**400), "horizon"),
        (lambda: hsb.HSB(hsb.BinaryTree(depth=2), arms=2, drift=np.arange(3)), "drift"),
        (lambda: hsb.HSB(hsb.BinaryTree(depth=2), arms=2).decide(np.ma.masked_array([0.5], [True])), "masked"),
        (lambda: hsb.replay_all([hsb.Exp3(arms=2)], []), "by name"),
        (lambda: hsb.replay(hsb.Exp3(arms=2), [1, 2]), "batches"),
        (lambda: hsb.replay(hsb.Exp3(arms=2), [], context=5), "function"),
        (lambda: hsb.learn_from(hsb.Exp3(arms=2), [], progress=5), "function"),
        (lambda: hsb.logs.open({}, context=5), "context"),
        (lambda: hsb.logs.open({}, context=["x"], loss_range=0), "loss_range"),
        (lambda: hsb.logs.Batch.of(contexts=[0.1], arm=[0], reward=[1], propensity=[1], arms={"a"}), "arms"),
        (lambda: hsb.logs.Batch.of(contexts=[0.1], arm=[0], reward=[1], propensity=[1], arms="a"), "arms"),
        (lambda: hsb.logs.Batch.of(contexts=[0.1], arm=[0], reward=[1], propensity=[1], arms=[[]]), "arms"),
        (lambda: hsb.theory.csb_ftpl_bound(float("nan"), arms=2, horizon=10, noise=1.0, resamples=3), "cost"),
    ],
)  # fmt: skip
def test_what_was_raw_or_silent_is_said(call, words):
    with wrong_calls.bounded(5), pytest.raises(hsb.InputError, match=words):
        call()


def test_large_sums_are_quick():
    with wrong_calls.bounded(5):
        assert 20 < hsb.theory.noise_cost(leaves=1, arms=2**31) < 22
    exact, quick = (hsb.theory.noise_cost(leaves=1, arms=arms) for arms in (10**5, 10**5 + 1))
    assert quick == pytest.approx(exact + 1e-5, rel=1e-9)
