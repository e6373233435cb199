"""The long form: HSB_ATTACK says how many."""

import os

from support.attack import wrong_calls

COUNT = int(os.environ.get("HSB_ATTACK", "500"))


def test_wrong_calls():
    outcome, failures = wrong_calls.storm(1, COUNT)
    print(outcome)
    assert not failures, "\n".join(f"{what} | {why}" for what, why in failures.items())
