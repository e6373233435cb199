"""Results and policies as tables for notebooks, as data frames, as pictures: equal numbers, escaped names, nothing costly."""

import re
import sys
import warnings
from html import unescape

import numpy as np
import pytest

import hsb
import hsb.logs
from hsb.play.result import Replay
from hsb.plotting.html_table import html_table

EVIL = "<b>$x^2$"
ARMS = [EVIL, "sale"]


def log_of(rows=2000, share=0.5):
    """A synthetic log in which the arm with the odd name earns more."""
    rng = np.random.default_rng(0)
    odd = rng.random(rows) < share
    click = rng.random(rows) < np.where(odd, 0.4, 0.1)
    arm = np.array(["sale", EVIL])[odd.astype(int)]
    table = {"arm": arm, "age": rng.random(rows), "p": np.where(odd, share, 1 - share), "click": click.astype(float)}
    return hsb.logs.open(table, arm="arm", propensity="p", reward="click")


@pytest.fixture(scope="module")
def policy():
    result = hsb.HSB(arms=ARMS, seed=0)
    hsb.learn_from(result, log_of(600), fit=False)
    return result


@pytest.fixture(scope="module")
def results(policy):
    return {
        "off_policy": hsb.evaluate.off_policy(policy, log_of()),
        "few": hsb.evaluate.off_policy(policy, log_of(200, 0.03)),
        "replay": hsb.replay(hsb.HSB(arms=ARMS, seed=0), log_of()),
        "certificate": policy.certificate(),
    }


def cells(html):
    """The texts of the cells of a table, row by row."""
    rows = re.findall(r"<tr>(.*?)</tr>", html)
    return [[unescape(cell) for cell in re.findall(r"<t[hd]>(.*?)</t[hd]>", row)] for row in rows]


def test_values_are_equal_in_every_form(results):
    result = results["off_policy"]
    head, *rows = cells(result._repr_html_())
    assert head == ["estimator", "reward", "95% interval", "safe interval"] and rows.pop()[1] == f"{result.logged:.4f}"
    assert [float(row[1]) for row in rows] == [round(result[name].value, 4) for name in result]
    assert rows[0][2] == "{:.4f} to {:.4f}".format(*result["ips"].interval)
    few = results["few"]._repr_html_()
    assert "[safe]" in few and "Warning: Too few rows show &#x27;&lt;b&gt;$x^2$&#x27;" in few and "<b>" not in few


def test_a_replay_in_every_form(results):
    result = results["replay"]
    pandas = pytest.importorskip("pandas")
    frame = result.to_frame()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == 1
    row = frame.iloc[0]
    assert (row["low"], row["high"]) == result.interval and row["average_reward"] == result.average_reward
    assert (
        row["matched"] == result.matched
        and row["method"] == "Wilson"
        and row["logged_average"] == result.logged / result.rounds
    )
    answer = dict(cells(result._repr_html_()))
    assert (
        answer["average reward"] == f"{result.average_reward:.4f}"
        and answer["events matched"] == f"{result.matched:,} of 2,000"
    )


def test_a_replay_without_matches():
    empty = Replay(
        rounds=0, matched=0, total=0.0, squares=0.0, logged=0.0, rejected=3, skipped=2, low=0.0, high=1.0, warnings=("<i>",)
    )
    assert np.isnan(empty.logged_average)
    html = empty._repr_html_()
    assert dict(cells(html))["average reward"] == "unknown" and "<i>" not in html and "Warning: &lt;i&gt;" in html
    assert dict(cells(html))["lines skipped"] == "2" and dict(cells(html))["events skipped"] == "3"


def test_a_certificate_in_every_form(results):
    result = results["certificate"]
    html = result._repr_html_()
    assert unescape(html).count(str(result)) == 1
    _, lost, against, advice = cells(html)
    assert lost == ["lost", f"{result.lost / result.rounds:,.4g}", f"{result.lost:,.4g}"]
    assert against == [f"at most more than {result.against}", f"{result.average:,.4g}", f"{result.total:,.4g}"]
    assert advice[2] == f"{result.advice_total:,.4g}"
    pytest.importorskip("pandas")
    frame = result.to_frame()
    assert frame["total"].tolist() == [result.total, result.advice_total] and frame["average"][0] == result.average
    assert set(frame["rounds"]) == {result.rounds}


def test_a_certificate_of_nothing():
    result = hsb.HSB(arms=ARMS).certificate()
    assert "No update has been learned yet" in result._repr_html_() and "<table" not in result._repr_html_()


def test_a_policy_as_html(policy):
    answer = dict(cells(policy._repr_html_()))
    assert answer["policy"] == "HSB" and answer["rounds learned"] == "600" and answer["arms"] == f"2: {ARMS!r}"
    assert answer["features"] == "age (number)" and "<b>" not in policy._repr_html_()
    assert "explain() shows what it plays" in policy._repr_html_() and "Guarantee" in policy._repr_html_()
    other = hsb.Uniform(arms=["a", "b", EVIL], floor=0.1, loss_range=(0, 5))
    other.remove_arm(EVIL)
    answer = dict(cells(other._repr_html_()))
    assert answer["arms removed"] == f"[{EVIL!r}]" and answer["floor"] == "0.1" and answer["rewards"] == "0 to 5"
    assert dict(cells(hsb.Exp3(arms=2, loss_range="auto")._repr_html_()))["rewards"] == "range not known yet"
    assert "explain()" not in other._repr_html_() and "features" not in answer


def test_a_policy_as_html_shows_no_contexts_and_explains_nothing(monkeypatch):
    policy = hsb.HSB(arms=ARMS, seed=0)
    for name in ("ada@example.com", "<script>"):
        policy.learn(policy.decide({"who": name, "<i>": 1.0}), reward=1.0)
    monkeypatch.setattr(hsb.HSB, "explain", lambda *_, **__: pytest.fail("explain was called"))
    before = policy.digest()
    html = policy._repr_html_()
    assert (
        "ada" not in html
        and "script" not in html
        and "<i>" not in html
        and dict(cells(html))["features"] == "who (category), <i> (number)"
    )
    assert policy.digest() == before and policy.ledger.issued == 2


def test_many_features_and_arms_stay_small():
    policy = hsb.HSB(arms=[f"arm {i}" for i in range(500)], seed=0)
    policy.learn(policy.decide({f"f{i}": float(i) for i in range(100)}), reward=1.0)
    answer = dict(cells(policy._repr_html_()))
    assert answer["features"].endswith("f19 (number), ... 100 in all") and answer["arms"].endswith("500 in all]")


def test_every_kind_of_policy_has_html():
    class Own(hsb.Policy, listed=False):
        def distribution(self, context):
            return np.full(len(self.arms), 1 / len(self.arms))

        def update(self, context, index, loss, propensity):
            pass

    own = [Own(arms=2), hsb.Exp3(arms=2), hsb.LinUCB(2, arms=2), hsb.HSB(hsb.BinaryTree(depth=2), arms=2)]
    for policy in own:
        assert cells(policy._repr_html_())[0] == ["policy", type(policy).__name__]


def test_rules_as_a_frame(policy):
    pandas = pytest.importorskip("pandas")
    explanation = policy.explain(log=log_of(1000))
    frame = explanation.to_frame()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == len(explanation.rules)
    for (_, row), rule in zip(frame.iterrows(), explanation.rules, strict=True):
        assert (row["where"], row["arm"], row["probability"], row["coverage"]) == (
            rule.where,
            rule.arm,
            rule.probability,
            rule.coverage,
        )
        assert (row["earned"], row["earned_low"], row["earned_rows"]) == (rule.earned.value, rule.earned.low, rule.earned.rows)
    bare = policy.explain().to_frame()
    assert bare["earned"].isna().all()


def test_frames_need_pandas(results, policy, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for result in (results["off_policy"], results["replay"], results["certificate"], policy.explain()):
        with pytest.raises(hsb.InputError, match="needs pandas"):
            result.to_frame()
        assert result._repr_html_()


def test_pictures_need_matplotlib(results, policy, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for result in results.values():
        with pytest.raises(ImportError, match="pip install"):
            result.plot()
        assert result._repr_html_()
    assert policy._repr_html_()


@pytest.mark.parametrize("width", [3.4, 7.0])
@pytest.mark.parametrize("name", ["off_policy", "few", "replay", "certificate"])
def test_pictures_hold_all_that_they_say(results, name, width):
    """Nothing is cut off, of narrow axes and of wide ones; the numbers are those of the result."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    result = results[name]
    figure, ax = pyplot.subplots(figsize=(width, 2.6))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert result.plot(ax) is ax
        figure.canvas.draw()
    page = figure.bbox
    texts = [ax.title, ax._left_title, ax.xaxis.label, *ax.get_yticklabels(), *ax.texts]
    for text in texts:
        box = text.get_window_extent()
        outside = (box.x0 < page.x0 - 1, box.x1 > page.x1 + 1, box.y0 < page.y0 - 1, box.y1 > page.y1 + 1)
        assert not text.get_text() or not any(outside), text
    written = {text.get_text() for text in ax.texts}
    if name == "certificate":
        assert {f"{result.average:.4g}", f"{result.advice_total / result.rounds:.4g}"} <= written | {"unproved"}
    else:
        values = [result.average_reward] if name == "replay" else [result[each].value for each in result]
        assert {f"{value:.4g}" for value in values} | {"the log itself"} == written
    pyplot.close(figure)
    assert result.plot().figure.get_layout_engine() is not None
    with pytest.raises(hsb.InputError, match="ax must be matplotlib axes"):
        result.plot("axes")
    pyplot.close("all")


def test_pictures_of_nothing():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    empty = Replay(rounds=10, matched=0, total=0.0, squares=0.0, logged=4.0, rejected=0, skipped=0, low=0.0, high=1.0)
    assert [text.get_text() for text in empty.plot().texts] == ["the log itself"]
    ax = hsb.HSB(arms=2).certificate().plot()
    assert ax.get_title(loc="left") == "Nothing learned yet" and not ax.patches
    loose = hsb.Certificate(rounds=10, lost=7.0, excess=9.0, cost=5.0, rate=0.2, shifted=True).plot()
    assert [text.get_text() for text in loose.texts] == ["unproved", "0.7"]  # from the bottom
    _, (left, _) = matplotlib.pyplot.subplots(1, 2, figsize=(7.0, 2.4))  # not over its neighbour either
    hsb.Certificate(rounds=10, lost=7.0, excess=9.0, cost=5.0, rate=0.2, shifted=True).plot(left)
    left.figure.canvas.draw()
    assert max(text.get_window_extent().x1 for text in left.texts) <= left.bbox.x1
    matplotlib.pyplot.close("all")


def test_a_table_escapes_every_text():
    html = html_table([EVIL, "<h>"], [(EVIL, "<c>")], lead="<l>", notes=["<n>"], folded=("<t>", "<u>"))
    assert not re.search(r"<(b|h|c|l|n|t|u)>", html) and html.count("&lt;b&gt;") == 2
