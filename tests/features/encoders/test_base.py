"""Encoders: against NumPy's own decomposition, in one piece and in pieces, outside of what was seen, as plain data."""

import json

import numpy as np
import pytest

import hsb
import hsb.logs
from hsb.features.encoders import PCA, Chain, Columns, Encoder, Hashed, MinMax, Ordinal, Quantiles, from_dict

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(500, 6)) @ RNG.normal(size=(6, 6)) + 100.0


def test_pca_equals_the_singular_vectors():
    pca = PCA(3).fit(ROWS)
    centred = ROWS - ROWS.mean(axis=0)
    _, values, axes = np.linalg.svd(centred, full_matrices=False)
    assert np.allclose(np.abs(np.sum(pca.axes * axes[:3], axis=1)), 1.0, atol=1e-10)
    assert np.allclose(pca.explained, values[:3] ** 2 / (values**2).sum(), atol=1e-12)
    assert np.allclose(pca.transform(ROWS), centred @ pca.axes.T, atol=1e-9)
    largest = np.argmax(np.abs(pca.axes), axis=1)
    assert (pca.axes[np.arange(3), largest] > 0).all()


def test_pca_of_pieces_is_that_of_the_whole():
    whole = PCA(2).fit(ROWS)
    pieces = PCA(2).fit(np.array_split(ROWS, 7))
    assert np.allclose(whole.axes, pieces.axes, atol=1e-10)
    assert np.allclose(whole.mean, pieces.mean)
    turned = PCA(2).fit(-ROWS)  # the sign does not depend on that of the data
    assert np.allclose(whole.axes, turned.axes, atol=1e-9)


def test_pca_is_accurate_far_from_zero():
    far = PCA(1).fit(ROWS + 1e8)
    assert np.allclose(far.axes, PCA(1).fit(ROWS).axes, atol=1e-6)


def test_min_max():
    scale = MinMax().fit(ROWS)
    unit = scale.transform(ROWS)
    assert unit.min() == 0.0
    assert unit.max() == 1.0
    assert scale.clipped == 0
    assert scale.transform(ROWS[:3] + 1e6).tolist() == [[1.0] * 6] * 3
    assert scale.clipped == 3
    assert MinMax().fit(np.ones((4, 1))).transform([[1.0]]).tolist() == [[0.5]]
    with pytest.raises(hsb.InputError, match="outside"):
        MinMax(outside="error").fit(ROWS).transform(ROWS + 1e6)


def test_quantiles_fill_the_unit_interval_evenly():
    skewed = np.exp(3 * RNG.normal(size=(20_000, 1)))
    scale = Quantiles().fit(np.array_split(skewed, 9))
    counts = np.histogram(scale.transform(skewed), 10, (0, 1))[0]
    assert abs(counts / 2000 - 1).max() < 0.05
    even = MinMax().fit(skewed).transform(skewed)
    assert np.histogram(even, 10, (0, 1))[0][0] > 19_000  # what it is for
    ties = np.repeat([[1.0], [2.0]], [300, 700], axis=0)
    result = Quantiles().fit(ties).transform([[1.0], [2.0], [9.0]]).ravel()
    assert np.allclose(result, [0.15, 0.65, 0.65], atol=0.01)
    small = Quantiles(sample=500).fit(np.array_split(skewed, 9))
    assert abs(small.transform(skewed) - scale.transform(skewed)).max() < 0.1


def fitted():
    return {
        "PCA": PCA(2).fit(ROWS),
        "MinMax": MinMax().fit(ROWS),
        "Quantiles": Quantiles(knots=9).fit(ROWS),
        "Ordinal": Ordinal([1, 4]).fit(ROWS),
        "Hashed": Hashed(64, seed=3).fit(ROWS),
        "Chain": Chain(PCA(1), MinMax(), Quantiles()).fit(ROWS),
        "Columns": Columns().fit(ROWS),
    }


@pytest.mark.parametrize("kind", sorted(Encoder.kinds))
def test_every_encoder_survives_as_plain_data(kind):
    encoder = fitted()[kind]
    back = from_dict(json.loads(json.dumps(encoder.to_dict())))
    assert np.array_equal(back.transform(ROWS), encoder.transform(ROWS))
    assert back.transform(ROWS).shape == encoder(ROWS).shape


@pytest.mark.parametrize("kind", sorted(Encoder.kinds))
def test_bad_input_changes_nothing(kind):
    encoder = fitted()[kind]
    before = json.dumps(encoder.to_dict())
    missing = [] if kind == "Columns" else [[[np.nan] * 6] * 3]  # which Columns takes
    for bad in (ROWS[:1], *missing, [ROWS, ROWS[:, :2]], "text", np.zeros((0, 6))):
        with pytest.raises(hsb.InputError):
            encoder.fit(bad)
        assert json.dumps(encoder.to_dict()) == before
    for bad in (ROWS[:, :2], *([[[np.inf] * 6]] if missing else []), np.zeros((2, 2, 2))):
        with pytest.raises(hsb.InputError):
            encoder.transform(bad)


def test_what_is_refused():
    for make, what in (
        (lambda: PCA(0), "components"),
        (lambda: PCA(7).fit(ROWS), "components"),
        (lambda: MinMax(outside="x"), "outside"),
        (lambda: Quantiles(knots=1), "knots"),
        (lambda: Chain(), "encoders"),
        (lambda: Chain(MinMax()).fit(iter([ROWS])), "iterator"),
        (lambda: MinMax().transform(ROWS), "fitted"),
        (lambda: from_dict({"encoder": "Magic"}), "Magic"),
    ):
        with pytest.raises(hsb.InputError, match=what):
            make()


def test_fitted_on_the_head_of_a_log():
    log = hsb.logs.SyntheticToday(30_000, seed=2)
    encoder = Chain(PCA(1), MinMax()).fit(log.head(3000))
    contexts = np.concatenate([encoder(batch.contexts) for batch in log])
    assert contexts.shape == (30_000, 1)
    assert 0.0 <= contexts.min() < contexts.max() <= 1.0
    assert 0 < encoder.clipped < 100


def test_ranges_and_squares_beyond_a_double():
    scale = MinMax().fit(np.array([[-1e308, 0.0], [1e308, 1.0]]))
    assert scale.transform([[0.0, 0.25], [-1e308, 0.0], [5e307, 1.0]]).tolist() == [[0.5, 0.25], [0.0, 0.0], [0.75, 1.0]]
    rng = np.random.default_rng(0)
    for size in (1e155, 1e300, 1.7e308):
        with pytest.raises(hsb.InputError, match="Scale them first"):
            PCA(1).fit(rng.uniform(-1, 1, (50, 2)) * size)
    assert np.isfinite(PCA(1).fit(rng.normal(size=(50, 2)) * 1e140).axes).all()
