"""What must hold of a decision before it is learned."""

import pytest

import hsb


@pytest.fixture
def policy():
    return hsb.Exp3(arms=["a", "b"], learning_rate=0.1, seed=0)


def test_the_policys_own_and_that_of_others_are_learned(policy):
    policy.learn(policy.decide(None), loss=0.5)
    policy.learn(hsb.Decision(context=None, arm="b", propensity=0.3), loss=0.5)
    assert policy.rounds == 2


@pytest.mark.parametrize("decision", [None, "a", {"arm": "a"}, hsb.Decision(context=None, arm="c", propensity=0.5)])
def test_what_cannot_be_learned_is_refused_and_changes_nothing(policy, decision):
    before = policy.digest()
    with pytest.raises(hsb.InputError):
        policy.learn(decision, loss=0.5)
    assert policy.digest() == before and policy.rounds == 0


@pytest.mark.parametrize("learner", [None, 3, object()])
def test_what_is_no_learner_makes_no_policy(learner):
    from hsb.policy.checking import check_learner

    with pytest.raises((hsb.InputError, TypeError)):
        check_learner(learner)
