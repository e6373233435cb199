"""What speaks against a replay, and what to do instead."""

import pytest

from hsb.play.advice import FEW, advice

SOUND = {"rounds": 10_000, "rejected": 5000, "matched": 3000, "floor": 1.0, "estimated": False}


def test_a_sound_replay_is_not_warned_of():
    assert list(advice(**SOUND)) == []


@pytest.mark.parametrize("change", [{"matched": 0}, {"matched": FEW - 1}, {"rejected": 9990, "floor": 0.00003, "matched": 3}])
def test_a_thin_one_is(change):
    assert all(len(answer) > 20 for answer in advice(**(SOUND | change))) and list(advice(**(SOUND | change)))
