"""The long form of `tests/policy/test_lock.py`: HSB_SECONDS says how many seconds each storm takes."""

import os

import pytest
from support.attack.threads import MAKERS, STORMS, once, run

SECONDS = float(os.environ.get("HSB_SECONDS", "1"))


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("storm", STORMS)
def test_threads(storm: str, kind: str) -> None:
    result = run(storm, kind, SECONDS)
    print(storm, kind, result)
    assert result.get("wrong") == 0 and not result["raised"] and result["decisions"] > 0, result


def test_one_decision_counts_once() -> None:
    once(int(200 * max(1.0, SECONDS)))
