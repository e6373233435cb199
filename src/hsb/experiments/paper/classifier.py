"""A scikit-learn classifier: perceptrons turn a row into a codeword, and HSB learns the class of each codeword. Needs scikit-learn.

`import hsb` does not import this file; `hsb.HSBClassifier` does.
"""

import math
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from ...checks import whole
from ...errors import InputError, quoted
from ...play import simulate
from ...policies import HSB
from ...policy.decision import Decision
from ...structures import BinaryTree, PositionSplits, Structure
from ...structures.spaces import Box
from .ecoc import Perceptrons, contexts, exhaustive, one_versus_all, random_code
from .ecoc.coding import checked_signs

MOST_POSITION = 8  # bits for which "auto" splits at any position: 2^8 boxes a round
FULL_RATE = 1.0  # the policy's default rate with full feedback


class HSBClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Several classes by error-correcting output codes, decoded by HSB (Section VI-D): a scikit-learn classifier.

    The perceptrons, one for each column of the code, give each row a codeword. The codeword is the context of the policy and the classes are
    its arms. First the policy and then the perceptrons learn from the true class. Unlike a Hamming decoder the policy does not know the code.

    - `structure`: "position" (HSB-APS), "binary" (HSB-BT), "auto" (the first for up to 8 bits, otherwise the second), or a structure on
      as many features as the code has bits, each in [0, 1].
    - `code`: "one-versus-all", "exhaustive", "random", or a matrix of +1 and -1, a row for each class (in the order of `classes_`).
    - `code_bits`: the bits of a random code; None is 2 log2 C + 4 for C classes, rounded up.
    - `feedback`: "full" (the default) gives every class except the true one a loss: the same mixture with exponential weights, without
      randomness. "bandit" is the paper's: the policy suggests a class and learns only whether it was right.
    - `learning_rate`: of the policy. None is 1 with full feedback; with bandit feedback it is HSB's default, which needs no rate.
    - `epochs`: the number of passes of `fit` through the data, each in another order; `partial_fit` makes one pass, in order.
    - `averaged`: if True, perceptrons predict with the average of their weights. `scaling`: as in `hsb.ecoc.Perceptrons`.
    - `random_state`: an int, a `numpy.random.RandomState` or None, as scikit-learn takes it. It orders the rows, draws the random code and the
      policy's arms.

    `predict` returns the most probable class at a row's codeword. `predict_proba` returns the probabilities with which the policy would suggest
    each class; they are not calibrated.

    >>> from hsb.experiments.paper.classifier import HSBClassifier
    >>> X = [[0.0, 0.1], [0.1, 0.0], [1.0, 0.9], [0.9, 1.0], [0.0, 1.0], [0.1, 0.9]] * 5
    >>> y = ["low", "low", "high", "high", "left", "left"] * 5
    >>> HSBClassifier(random_state=0).fit(X, y).predict([[0.05, 0.05], [0.95, 0.95], [0.05, 0.95]]).tolist()
    ['low', 'high', 'left']
    """

    classes_: NDArray[Any]
    code_matrix_: NDArray[np.int8]
    perceptrons_: Perceptrons
    policy_: HSB

    def __init__(
        self,
        *,
        structure: Literal["auto", "position", "binary"] | Structure = "auto",
        code: Literal["one-versus-all", "exhaustive", "random"] | ArrayLike = "one-versus-all",
        code_bits: int | None = None,
        feedback: Literal["full", "bandit"] = "full",
        learning_rate: float | None = None,
        epochs: int = 10,
        averaged: bool = True,
        scaling: Any = "online",
        random_state: Any = None,
    ) -> None:
        self.structure = structure
        self.code = code
        self.code_bits = code_bits
        self.feedback = feedback
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.averaged = averaged
        self.scaling = scaling
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from scratch: `epochs` times through the rows of `X` and their classes `y`, each time in another order. Returns itself."""
        epochs = whole("epochs", self.epochs, 1)
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        rng = check_random_state(self.random_state)
        classes, index = np.unique(y, return_inverse=True)
        self._begin(classes, rng)
        for _ in range(epochs):
            order = rng.permutation(len(X))
            self._learn(X[order], index[order])
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn more rows, in order. Returns itself. The first call needs `classes`, all that will ever occur, else `InputError`."""
        first = not hasattr(self, "policy_")
        if first and classes is None:
            raise InputError("The first partial_fit needs classes=, all labels that will ever occur; given None.")
        X, y = validate_data(self, X, y, dtype=np.float64, reset=first)
        check_classification_targets(y)
        known = unique_labels(classes) if classes is not None else self.classes_
        if not first and not np.array_equal(known, self.classes_):
            raise InputError(f"classes must stay {self.classes_.tolist()}; given {known.tolist()}.")
        unknown = np.setdiff1d(y, known)
        if len(unknown):
            raise InputError(
                f"y has {unknown.tolist()}, which is not among the classes {known.tolist()}. "
                "Pass classes= with all labels to the first partial_fit."
            )
        if first:
            self._begin(known, check_random_state(self.random_state))
        self._learn(X, np.searchsorted(self.classes_, y))
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class at each row's codeword; if several are, the first."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability with which the policy would suggest each class: a row for each of `X`, a column for each of `classes_`."""
        check_is_fitted(self, "policy_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        codes, which = np.unique(self.perceptrons_.codewords(X), axis=0, return_inverse=True)
        shares = np.array([self.policy_.probabilities(context) for context in contexts(codes)])
        return np.asarray(shares[which.reshape(-1)])

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "policy_"):  # unpickled arrays may lie in a file that must not be written to
            self.policy_, self.perceptrons_ = self.policy_.copy(), self.perceptrons_.copy()

    def _begin(self, classes: NDArray[Any], rng: np.random.RandomState) -> None:
        """Create perceptrons and a policy that have learned nothing."""
        if self.feedback not in ("full", "bandit"):
            raise InputError(f"feedback must be 'full' or 'bandit'; given {quoted(self.feedback)}.")
        rate = FULL_RATE if self.learning_rate is None and self.feedback == "full" else self.learning_rate
        code_seed, policy_seed = (int(seed) for seed in rng.randint(np.iinfo(np.int32).max, size=2))
        matrix = self._matrix(len(classes), code_seed)
        bits = matrix.shape[1]
        perceptrons = Perceptrons(self.n_features_in_, columns=bits, scaling=self.scaling, averaged=self.averaged)
        policy = HSB(self._structure(bits), arms=len(classes), learning_rate=rate, seed=policy_seed)
        self.classes_, self.code_matrix_, self.perceptrons_, self.policy_ = classes, matrix, perceptrons, policy

    def _matrix(self, classes: int, seed: int) -> NDArray[np.int8]:
        if not isinstance(self.code, str):
            matrix = checked_signs("code", self.code)
            if len(matrix) != classes:
                raise InputError(f"code needs a row for each of the {classes} classes; given {len(matrix)}.")
            return matrix
        if self.code == "one-versus-all" or (classes == 1 and self.code in ("exhaustive", "random")):
            return one_versus_all(classes)
        if self.code == "exhaustive":
            return exhaustive(classes)
        if self.code == "random":
            bits = math.ceil(2 * math.log2(classes)) + 4 if self.code_bits is None else self.code_bits
            return random_code(classes, bits=bits, seed=seed)
        raise InputError(
            f"code must be 'one-versus-all', 'exhaustive', 'random' or a table of +1 and -1; given {quoted(self.code)}."
        )

    def _structure(self, bits: int) -> Structure:
        if isinstance(self.structure, Structure):
            if self.structure.space.features != bits:
                raise InputError(f"structure needs {bits} features, a bit each; given {quoted(self.structure)}.")
            return self.structure
        if self.structure == "position" or (self.structure == "auto" and bits <= MOST_POSITION):
            return PositionSplits(bits=[1] * bits)
        if self.structure in ("binary", "auto"):
            return BinaryTree(depth=bits, space=Box.unit(bits))
        raise InputError(f"structure must be 'auto', 'position', 'binary' or a structure; given {quoted(self.structure)}.")

    def _learn(self, X: NDArray[np.float64], index: NDArray[np.int64]) -> None:
        """Learn the rows once: each gets its codeword, then the policy and the perceptrons learn its class."""
        codes = self.perceptrons_.learn(X, self.code_matrix_[index])
        if self.feedback == "bandit":
            simulate(self.policy_, contexts(codes), 1.0 - np.eye(len(self.classes_))[index])
            return
        # With every loss known and a constant rate, weights depend only on how often each class was wrong at each codeword, so an update
        # of k mistakes is one round of k times the loss (propensity 1/k). Mistakes that all classes share at a codeword cancel.
        distinct, which = np.unique(codes, axis=0, return_inverse=True)
        right = np.zeros((len(distinct), len(self.classes_)), dtype=np.int64)
        np.add.at(right, (which.reshape(-1), index), 1)
        wrong = right.max(axis=1, keepdims=True) - right
        for context, mistakes in zip(contexts(distinct), wrong.tolist(), strict=True):
            for arm, k in enumerate(mistakes):
                if k:
                    self.policy_.learn(Decision(context=context, arm=arm, propensity=1.0 / k), loss=1.0)
