"""Arms with a model of their own, as the service lists them."""

import pytest
from support.serve.core_cases import At
from support.serve.request_cases import asked, fill, make, reward_of

from hsb.serve.core import Create
from hsb.serve.core.known import known_arms


@pytest.fixture
def at(tmp_path):
    service = At(tmp_path / "hsb.db")
    yield service
    service.close()


def naive(at, rewards):
    """Plays and average reward of each arm, from the journal."""
    totals = {}
    for row in at.store.decisions(at.home.id):
        k = int(row.id.partition("-")[2])
        if k < rewards:
            totals.setdefault(row.played, []).append(reward_of(row.played, asked(k)[1]))
    return {arm: (len(values), pytest.approx(sum(values) / len(values))) for arm, values in totals.items()}


@pytest.mark.parametrize("limits", [None, (-10.0, 30.0)])
def test_plays_and_rewards_are_those_of_the_journal(at, limits):
    make(at, policy={} if limits is None else {"reward_range": limits})
    fill(at, 60)
    known, expected = known_arms(at.home, 100), naive(at, 57)
    assert {arm.arm: (arm.plays, arm.average_reward) for arm in known.most_played} == expected
    assert known.number == len(expected) and len(known_arms(at.home, 3).most_played) == 3
    assert [arm.plays for arm in known.most_played] == sorted((n for n, _ in expected.values()), reverse=True)


def test_an_inferred_range_has_no_average(at):
    make(at, policy={"reward_range": "auto"})
    fill(at, 20)
    assert all(arm.plays and arm.average_reward is None for arm in known_arms(at.home).most_played)


def test_a_list_of_arms_has_no_known_ones(at):
    at.ask(Create(0, {"name": "home", "arms": ["a"]}, b"0123456789abcdef"))
    assert known_arms(at.home) is None and at.home.live._policy is None  # asking does not make the policy
