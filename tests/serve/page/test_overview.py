"""The page where little was learned, or not everything could be: what it draws, says and leaves out."""

import re

import pytest

pytest.importorskip("starlette")
pytest.importorskip("jinja2")

from support.serve import page_harness as harness

from hsb.serve.core import Change, Create, Decide, Now, Reward
from hsb.serve.core.sampling import u_of
from hsb.serve.local import clock
from hsb.serve.page.app import SECTIONS
from hsb.serve.page.render import ENVIRONMENT


@pytest.fixture
def made(tmp_path):
    service = harness.Harness(tmp_path / "hsb.db")
    yield service
    service.close()


def test_two_delays_have_a_half_and_nine_in_ten(made):
    began = clock()

    def after(seconds):
        return Now(began.wall + int(seconds * 1e6), began.mono + int(seconds * 1e6))

    made.local.ask(Create(1, {"name": "slow", "arms": ["a"], "policy": {"kind": "Exp3"}}, b"s" * 32), began)
    for k, delay in enumerate((0.06, 3.0)):
        made.local.ask(Decide(2, "slow", f"slow-{k}", 0), after(10 * k))
        made.local.ask(Reward(3, f"slow-{k}", 1.0), after(10 * k + delay))
    (row,) = made.client().get("/p/slow/feedback.json").json()["by_arm"]
    assert (row["median"], row["ninetieth"]) == (0.06, 3.0)


def test_estimates_and_their_difference_fit_each_other(made):
    """Two updates, both of one arm at a half: always playing it is estimated to earn 2, though no reward is above 1."""
    made.local.ask(Create(1, {"name": "two", "arms": ["a", "b"], "baseline": "b", "policy": {"kind": "HSB"}}, b"p" * 32))
    for k in range(2):
        assert made.local.ask(Decide(2, "two", f"two-{k}", {"x": 1})).body["arm"] == "a"
    for k in range(2):
        made.local.ask(Reward(3, f"two-{k}", 1.0))
    policy, *others = made.client().get("/p/two/overview.json").json()["rows"]
    assert [row["value"] for row in (policy, *others)] == [1.0, 1.0, 0.0, 2.0]
    assert [row["ahead"]["value"] for row in others] == [0.0, 1.0, -1.0]
    assert all((row["low"], row["high"]) == (0.0, 1.0) and row["verdict"] == "undecided so far" for row in others)
    assert [arm["value"] for arm in made.client().get("/p/two/arms.json").json()["arms"]] == [2.0, None]


def test_the_axis_holds_intervals_not_estimates(made):
    """An arm at a half that earned 1 four times is estimated at 2: the picture goes from 0 to 1 all the same, as rewards and intervals do."""
    began = clock()
    made.local.ask(Create(1, {"name": "two", "arms": ["a", "b"], "policy": {"kind": "HSB"}}, b"p" * 32), began)
    moments = [Now(began.wall + 10**7 * k, began.mono + 10**7 * k) for k in range(5)]
    names = [name for name in (f"two-{k}" for k in range(40)) if u_of(b"p" * 32, name) < 0.5][:4]
    for name in names:
        assert made.local.ask(Decide(2, "two", name, {"x": 1}), moments[0]).body["arm"] == "a"
    for name, moment in zip(names, moments[1:], strict=True):
        assert made.local.ask(Reward(3, name, 1.0), moment).status == "learned"
    assert made.client().get("/p/two/overview.json").json()["rows"][-1]["value"] == 2.0
    labels = re.findall(r'<div class="ys"[^>]*>(.*?)</div>', made.client().get("/p/two/overview").text)[0]
    assert re.findall(r"<span>([^<]*)</span>", labels)[0] == "1.00"


def test_one_of_a_thing_is_said_as_one(made):
    """Of everything that can be counted there is one: an update, an arm, a row passed over, a decision that waits."""
    made.local.ask(Create(1, {"name": "one", "arms": ["a"], "policy": {"kind": "HSB"}}, b"o" * 32))
    for k, context in enumerate(({"x": 1}, {"x": "text"}, {"x": 2})):
        made.local.ask(Decide(2, "one", f"one-{k}", context))
    texts = {}
    for k in range(2):
        made.local.ask(Reward(3, f"one-{k}", 1.0))
        client = made.client()
        for path in ("/", *(f"/p/one/{section}" for section in SECTIONS if section != "rules")):
            texts[k, path] = re.sub(r"<[^>]*>", " ", client.get(path).text)
            wrong = re.findall(r"(?<![\d.,])1 (?:rows|updates|arms|wait)\b.*", texts[k, path])
            assert not wrong, (path, wrong)
    assert (
        "1 decision waits for feedback" in texts[1, "/"] and "1 update, 1 arm" in texts[0, "/"] and "2 updates" in texts[1, "/"]
    )
    assert (
        "1 row of the journal could not be learned" in texts[1, "/p/one/problems"]
        and "It stays in the journal" in texts[1, "/p/one/problems"]
    )
    assert "1 row of the journal is not counted yet" in str(ENVIRONMENT.globals["m"].behind(1))


def rows_of(made, name):
    return {row["name"]: row for row in made.client().get(f"/p/{name}/overview.json").json()["rows"]}


def filled(made, name, first, last):
    asked = [Decide(k, name, f"{name}-{k}", {"x": k % 5}) for k in range(first, last)]
    for answer in made.local.ask_all(asked):
        good = answer.body["arm"] == "b" or int(answer.body["id"].split("-")[1]) % 3 == 0
        made.local.ask(Reward(0, answer.body["id"], float(good)))


def test_what_was_played_is_not_the_policy(made):
    """In the shadow the rewards are the baseline's, and nothing is said of the policy; with a part of the traffic it is estimated."""
    shadow = {"name": "shade", "arms": ["a", "b"], "ramp": 0, "baseline": "a", "policy": {"kind": "HSB"}}
    made.local.ask(Create(1, shadow, b"q" * 32))
    filled(made, "shade", 0, 60)
    rows = rows_of(made, "shade")
    assert "this policy" not in rows and rows["all traffic"]["value"] == pytest.approx(20 / 60)
    assert rows["the policy alone, estimated"]["value"] is None and not rows["the policy alone, estimated"]["verdict"]
    page = made.client().get("/p/shade/overview").text
    assert "cannot be estimated" in page and "all traffic less this rule" in page
    made.local.ask(Change(1, "shade", {"ramp": 0.5, "floor": 0.5}))
    filled(made, "shade", 60, 200)
    rows = rows_of(made, "shade")
    assert rows["the policy alone, estimated"]["value"] > rows["all traffic"]["value"]
    assert "each is weighted by the policy" in made.client().get("/p/shade/overview").text


def test_a_plain_experiment_is_not_compared_with_itself(made):
    made.local.ask(Create(1, {"name": "plain", "arms": ["a", "b"], "floor": 1, "policy": {"kind": "HSB"}}, b"r" * 32))
    filled(made, "plain", 0, 60)
    rows = rows_of(made, "plain")
    assert "this policy, which plays uniformly" in rows and "uniform play" not in rows and len(rows) == 2
    made.local.ask(Create(1, {"name": "usual", "arms": ["a", "b"], "policy": {"kind": "HSB"}}, b"r" * 32))
    filled(made, "usual", 0, 60)
    assert {"this policy", "uniform play"} < rows_of(made, "usual").keys()


def test_of_an_arm_that_was_never_played_there_is_no_estimate(made):
    """Its interval, all that is possible, stays; the control was played."""
    made.local.ask(
        Create(1, {"name": "one", "arms": ["a", "b"], "policy": {"kind": "HSB"}, "ramp": 0.0, "baseline": "a"}, b"o" * 32)
    )
    for k in range(5):
        made.local.ask(Decide(2, "one", f"one-{k}", {"x": k}))
        made.local.ask(Reward(3, f"one-{k}", 1.0))
    a, b = made.client().get("/p/one/arms.json").json()["arms"]
    assert (a["played"], a["value"]) == (5, 1.0) and (b["played"], b["value"], b["low"], b["high"]) == (0, None, 0.0, 1.0)
    assert made.client().get("/p/one/arms").status_code == 200
