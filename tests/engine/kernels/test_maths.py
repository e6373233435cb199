"""The compiled functions have the bits of `reproducible_math`, and are right to the last digits."""

import math

import numpy as np

from hsb import reproducible_math
from hsb.engine.kernels import maths

X = np.concatenate([np.random.default_rng(0).uniform(-300, 300, 500), [0.0, -745.0, 1e-300, -1e-9]])


def test_exponentials():
    out = np.empty_like(X)
    maths.exps(X, out)
    assert out.tolist() == [reproducible_math.exp(x) for x in X.tolist()]
    np.testing.assert_allclose(out, [math.exp(x) for x in X.tolist()], rtol=1e-14, atol=1e-320)


def test_logarithms():
    positive = np.exp(X[:500])
    out = np.empty_like(positive)
    maths.logs(positive, out)
    assert out.tolist() == [reproducible_math.log(x) for x in positive.tolist()]
    np.testing.assert_allclose(out, [math.log(x) for x in positive.tolist()], rtol=1e-14)


def test_the_result_may_replace_its_argument():
    x = X[:100].copy()
    maths.exps(x, x)
    maths.logs(x, x)
    np.testing.assert_allclose(x, X[:100], rtol=1e-13, atol=1e-13)
