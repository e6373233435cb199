"""Policies of which a decision takes long are named: when they are made, where they are shown, on the page."""

from support.serve.core_cases import SECRET, At

from hsb.serve.core import Create
from hsb.serve.core.learner import PolicyReplica
from hsb.serve.page.overview import alarms
from hsb.serve.page.sheets import TallyCache, sheet


def declared(count):
    return {"kind": "HSB", "features": {f"x{k}": "number" for k in range(count)}}


def test_many_arms_times_many_features(tmp_path):
    at = At(tmp_path / "hsb.db")
    for name, arms, features in (("few", 10, 60), ("many", 300, 60)):
        spec = {"name": name, "arms": [f"a{k}" for k in range(arms)], "policy": declared(features)}
        assert at.says(Create(0, spec, SECRET)) == "created"
    few, many = at.core.policies["few"], at.core.policies["many"]
    assert few.warnings() == [] and not few.live._policy  # nothing was made to find out
    (warning,) = many.warnings()
    assert "With 300 arms" in warning and "1.2 ms" in warning
    for served, some in ((few, 0), (many, 1)):
        page, cache = sheet(at.core, served, at.wall), TallyCache()
        tally, _ = cache.tally(at.store, page)
        result = alarms(page, tally, cache.evidence(at.store, page), None, 0)
        assert sum("ms, during which" in each for each in result) == some
    at.close()


def test_what_was_found_out_counts():
    """Features that nobody declared, once they were learned."""
    replica = PolicyReplica.idle(1, {"kind": "HSB"}, [f"a{k}" for k in range(50)], {}, at=1)
    before = replica.microseconds
    policy = replica.policy
    policy.learn_proposed(policy.propose({f"x{k}": k / 60 for k in range(60)}, u=0.5), reward=1.0)
    assert before < 30.0 < 200.0 < replica.microseconds
    exp3 = PolicyReplica.idle(1, {"kind": "Exp3"}, [f"a{k}" for k in range(1000)], {}, at=1)
    assert exp3.microseconds == 0.0
