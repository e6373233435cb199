"""Pictures of explanations."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

import hsb
from hsb.plotting.explanations import explanation_png, plot_explanation, plot_importance


@pytest.fixture(scope="module", params=[1, 2])
def explained(request):
    features = request.param
    policy = hsb.HSB(hsb.BinaryTree(depth=4, space=hsb.Box.unit(features)), arms=["a", "b"], learning_rate=0.3, seed=0)
    contexts = np.random.default_rng(0).random((1000, features))
    right = contexts[:, 0] > 0.5
    hsb.simulate(policy, contexts, np.column_stack([right, ~right]).astype(float))
    return policy.explain()


def test_it_is_drawn_into_the_axes_given(explained):
    ax = Figure().subplots()
    assert plot_explanation(explained, ax) is ax and (ax.patches or ax.collections or ax.images)
    low, high = ax.get_xlim()
    assert low <= 0.01 and high >= 0.99


def test_importance_has_a_bar_for_each_column(explained):
    ax = Figure().subplots()
    plot_importance(explained, ax)
    assert len([patch for patch in ax.patches if patch.get_width() >= 0]) >= len(explained.importance)


def test_equal_explanations_give_equal_bytes(explained):
    assert explanation_png(explained) == explanation_png(explained)
