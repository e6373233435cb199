"""HSBClassifier: scikit-learn's own checks, exact full feedback, sensible accuracy."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from naive import ecoc as naive_ecoc

import hsb
from hsb import ecoc, theory
from hsb.errors import InputError
from hsb.structures.mappings import every_mapping

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

from hsb.experiments.paper.classifier import HSBClassifier


def flowers(seed: int, number: int = 150) -> tuple[np.ndarray, np.ndarray]:
    """Three kinds of four measurements, two of them close to each other, as irises are."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, number)
    means = np.array([[5.0, 3.4, 1.5, 0.3], [5.9, 2.8, 4.2, 1.3], [6.6, 3.0, 5.6, 2.0]])
    spread = np.array([[0.35, 0.38, 0.17, 0.1], [0.5, 0.3, 0.45, 0.2], [0.6, 0.3, 0.5, 0.27]])
    return means[y] + spread[y] * rng.normal(size=(number, 4)), np.array(["setosa", "versicolor", "virginica"])[y]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"feedback": "bandit"},
        {"structure": "binary", "code": "exhaustive", "averaged": False},
        {"code": "random", "learning_rate": 0.3, "epochs": 5},
    ],
    ids=str,
)
def test_scikit_learns_checks(settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)  # array API and pandas, where they are not installed
        results = check_estimator(HSBClassifier(**settings), on_fail=None)
    assert [(r["check_name"], r["exception"]) for r in results if r["status"] not in ("passed", "skipped")] == []
    assert sum(r["status"] == "passed" for r in results) >= 45


@pytest.mark.parametrize("feedback", ["full", "bandit"])
@pytest.mark.parametrize("structure", ["position", "binary"])
@pytest.mark.parametrize("code", ["one-versus-all", "exhaustive"])
def test_accuracy_on_flowers(feedback, structure, code):
    X, y = flowers(0, 300)
    model = HSBClassifier(feedback=feedback, structure=structure, code=code, random_state=0).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.9
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"] and model.n_features_in_ == 4
    shares = model.predict_proba(X)
    assert shares.sum(axis=1) == pytest.approx(np.ones(300), abs=1e-12)
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(X)).all()


def test_hsb_offers_it_by_name_and_says_what_is_missing():
    assert hsb.HSBClassifier is HSBClassifier
    code = "import sys; sys.modules['sklearn'] = None\nimport hsb\ntry: hsb.HSBClassifier\nexcept ImportError as error: print(error)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "scikit-learn" in answer and "pip install 'hsb[sklearn]'" in answer


def test_labels_at_random_teach_nothing():
    X, y = flowers(1, 400)
    y = np.random.default_rng(2).permutation(y)
    assert HSBClassifier(random_state=0).fit(X[:200], y[:200]).score(X[200:], y[200:]) < 0.45


def test_full_feedback_is_exponential_weights_over_all_mappings():
    """Codewords of one bit a class are few: every mapping's weight by hand, against what the policy has after partial_fit."""
    X, y = flowers(3, 60)
    index = np.searchsorted(np.unique(y), y) % 2  # two classes, two bits, four cells
    model = HSBClassifier(structure="position", learning_rate=0.05).partial_fit(X, index, classes=[0, 1])
    codes = ecoc.Perceptrons(4, columns=2, averaged=True).learn(X, ecoc.one_versus_all(2)[index])
    structure = hsb.PositionSplits(bits=[1, 1])
    losses = np.zeros((4, 2))
    for context, label in zip(ecoc.contexts(codes), index, strict=True):
        losses[structure.leaf_of(context), 1 - label] += 1.0
    table = every_mapping(structure, arms=2).table
    prior = {tuple(g): float(np.exp(-theory.prior_cost(structure, g, arms=2))) for g in table.tolist()}
    weights = naive_ecoc.exponential_weights(losses, prior, 0.05)
    for word in ([1, -1], [-1, 1], [1, 1], [-1, -1]):
        (context,) = ecoc.contexts([word])
        cell = structure.leaf_of(context)
        expected = [sum(w for g, w in weights.items() if g[cell] == arm) for arm in range(2)]
        assert model.policy_.probabilities(context) == pytest.approx(expected, abs=1e-12)


def test_bandit_feedback_is_the_papers():
    """partial_fit is `simulate` on the codewords: the policy learns only whether its suggestion was right."""
    X, y = flowers(4)
    classes, index = np.unique(y, return_inverse=True)
    model = HSBClassifier(feedback="bandit", learning_rate=0.1, random_state=5, averaged=False)
    model.partial_fit(X, y, classes=classes)
    codes = ecoc.Perceptrons(4, columns=3).learn(X, ecoc.one_versus_all(3)[index])
    seed = int(np.random.RandomState(5).randint(np.iinfo(np.int32).max, size=2)[1])
    policy = hsb.HSB(hsb.PositionSplits(bits=[1] * 3), arms=3, learning_rate=0.1, seed=seed)
    hsb.simulate(policy, ecoc.contexts(codes), 1.0 - np.eye(3)[index])
    for context in ecoc.contexts(codes[:20]):
        assert (policy.probabilities(context) == model.policy_.probabilities(context)).all()


def test_repeats_goes_on_and_survives_a_pickle():
    X, y = flowers(6)
    first, second = (HSBClassifier(random_state=1).fit(X, y) for _ in range(2))
    assert (first.predict_proba(X) == second.predict_proba(X)).all()
    model = HSBClassifier(random_state=1)
    for part in range(0, 150, 30):
        model.partial_fit(X[part : part + 30], y[part : part + 30], classes=np.unique(y))
    twin = pickle.loads(pickle.dumps(model))
    for each in (model, twin):
        each.partial_fit(X, y)
    assert (model.predict_proba(X) == twin.predict_proba(X)).all()
    assert model.score(X, y) > 0.9
    assert clone(model).get_params() == model.get_params()


def test_many_classes_take_a_tree_by_themselves():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 12, 600)
    X = rng.normal(size=(12, 8))[y] * 3 + rng.normal(size=(600, 8))
    model = HSBClassifier(random_state=0).fit(X[:450], y[:450])
    assert isinstance(model.policy_.structure, hsb.BinaryTree)
    assert model.score(X[450:], y[450:]) > 0.8
    own = HSBClassifier(structure=hsb.BinaryTree(depth=4, space=hsb.Box.unit(12)), random_state=0).fit(X, y)
    assert own.policy_.structure.depth == 4


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"structure": "tree"}, "structure must be"),
        ({"structure": hsb.BinaryTree(depth=3)}, "needs 3 features"),
        ({"code": "huffman"}, "code must be"),
        ({"code": [[1, -1], [-1, 1]]}, "each of the 3 classes"),
        ({"code": "random", "code_bits": 1}, "more bits"),
        ({"feedback": "some"}, "feedback must be"),
        ({"learning_rate": 0.0}, "learning_rate must be"),
        ({"epochs": 0}, "epochs must be"),
        ({"scaling": "whole"}, "scaling must be"),
    ],
    ids=str,
)
def test_bad_settings_say_what_is_needed(settings, text):
    X, y = flowers(7, 60)
    model = HSBClassifier(**settings)
    with pytest.raises(InputError, match=text):
        model.fit(X, y)
    assert not hasattr(model, "policy_")


def test_bad_rows_change_nothing():
    X, y = flowers(8)
    with pytest.raises(InputError, match="first partial_fit needs classes"):
        HSBClassifier().partial_fit(X, y)
    model = HSBClassifier(random_state=0).fit(X, y)
    before = model.predict_proba(X)
    for labels, classes in ((np.where(y == "setosa", "rose", y), None), (y, ["setosa", "rose"])):
        with pytest.raises(InputError, match="rose"):
            model.partial_fit(X, labels, classes=classes)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.where(X > 6, np.nan, X), y)
    assert (model.predict_proba(X) == before).all()
