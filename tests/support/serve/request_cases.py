"""Cases of policies whose arms come with each request: requests, a policy, a journal with updates."""

import random

from hsb.serve.core import Create, Decide, Reward

SECRET = b"0123456789abcdef"
GROUPS = {"open": {"always": ["home"], "group": "topic", "groups": ["news", "sport"], "known": 50}}
BANDIT = {"name": "home", "arms": GROUPS}


def asked(seed):
    """A context and its arms, drawn with this seed."""
    rng = random.Random(seed)
    arms = {
        f"a{k}": {"price": rng.randrange(20), "topic": rng.choice(["news", "sport", "art"])} for k in rng.sample(range(80), 6)
    }
    return {"age": rng.randrange(18, 80), "country": rng.choice("dfe")}, arms | {"home": None}


def reward_of(arm, arms):
    features = arms[arm] or {"price": 5, "topic": "art"}
    return float(features["topic"] == "news" or features["price"] < 4)


def fill(local, n=60, late=3, first=0, policy="home"):
    """Decide on `n` requests; send the reward of each `late` decisions later."""
    made = {}
    for k in range(first, first + n):
        context, arms = asked(k)
        answer = local.ask(Decide(k, policy, f"{policy}-{k}", context, arms=arms))
        assert answer.status == "created", answer
        made[k] = reward_of(answer.body["arm"], arms)
        if k - late in made:
            assert local.ask(Reward(k, f"{policy}-{k - late}", made[k - late])).status == "learned"


def make(local, **spec):
    answer = local.ask(Create(0, BANDIT | spec, SECRET))
    assert answer.status == "created", answer
