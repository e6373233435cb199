"""`ArmsExplanation`: text, notebook table, plain data, data frame and picture."""

from __future__ import annotations

import json

import pytest

import hsb
from hsb.explain.arms import ArmFeature, ArmPlays, ArmsExplanation, Effect, Interaction

PRICE = ArmFeature("price", 0.12, (Effect("higher values", "per standard deviation (8.2)", -0.12, 0.01, 1.0),))
TOPIC = ArmFeature("topic", 0.1, (Effect("<b>", "", 0.2, 0.02, 0.5), Effect("sport", "", -0.01, 0.02, 0.5)))
NOISE = ArmFeature("noise", 0.01, (Effect("higher values", "per standard deviation (1)", 0.01, 0.02, 1.0),))
CLEAR = Interaction("topic is news", "device is ios", 0.3, 0.03, 0.07)
UNCLEAR = Interaction("higher noise", "device is ios", 0.03, 0.03, 0.01)


def explanation(**changes) -> ArmsExplanation:
    values = {
        "features": (PRICE, TOPIC, NOISE),
        "interactions": (CLEAR, UNCLEAR),
        "weights": {"advice": 0.9, "groups": 0.08, "rules": 0.02},
        "groups": {"other arms": 0.25, ("topic", "news"): 0.75},
        "arms": (ArmPlays("a17", 1200, 0.61),),
        "rounds": 2048,
        "mixed": False,
    }
    return ArmsExplanation(**values | changes)


def test_the_text_has_clear_effects_only() -> None:
    assert str(explanation()).splitlines() == [
        "Features of arms, by how much they change the predicted reward on average (last 2,048 rounds)",
        "  0.120  price: higher values earn less, -0.120 ± 0.010 per standard deviation (8.2)",
        "  0.100  topic: <b> earns more, +0.200 ± 0.020",
        "  0.010  noise: no clear effect on average",
        "Together with the context",
        "  topic is news: more if device is ios, +0.300 ± 0.030",
        "Known arms with the most plays",
        "  'a17': 1,200 plays, average reward 0.61",
        "Weights of single groups: topic news 0.75, other arms 0.25.",
        "Weights in the mixture: advice 0.9, groups 0.08, rules 0.02.",
    ]
    short = str(explanation(top=1, groups={"other arms": 1.0}, interactions=()))
    assert "price" in short and "topic" not in short and "Weights" not in short


def test_a_notebook_shows_a_table_with_escaped_text() -> None:
    html = explanation()._repr_html_()
    assert "&lt;b&gt; earns more" in html and "<b>" not in html.replace("&lt;b&gt;", "")
    assert "Together with the context: topic is news" in html


def test_plain_data_passes_json_and_a_frame_has_a_row_for_each_effect() -> None:
    data = json.loads(json.dumps(explanation().to_dict()))
    assert data["features"][0]["effects"][0]["change"] == -0.12 and data["groups"][1] == [["topic", "news"], 0.75]
    pytest.importorskip("pandas")
    frame = explanation().to_frame()
    assert frame["feature"].tolist() == ["price", "topic", "topic", "noise"] and frame["change"].tolist()[1] == 0.2


def test_the_picture_has_a_bar_for_each_clear_effect() -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    axes = explanation().plot(Figure().subplots())
    assert [label.get_text() for label in axes.get_yticklabels()] == ["topic: <b>", "price: higher values"]
    assert sorted(patch.get_width() for patch in axes.patches) == [-0.12, 0.2]


def test_without_updates_it_says_so() -> None:
    empty = hsb.HSB(arms=hsb.Open(), seed=0).explain()
    assert str(empty) == "Nothing is learned yet." and repr(empty) == "ArmsExplanation(0 features, 0 rounds, 0 known arms)"


@pytest.mark.parametrize("top", [0, True, "3"])
def test_a_wrong_top_is_refused(top) -> None:
    with pytest.raises(hsb.InputError, match="top must be the number of features"):
        explanation(top=top)
