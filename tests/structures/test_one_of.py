"""One of several structures over one space."""

import pytest

import hsb

SQUARE = hsb.Box.unit(2)
ROWS, COLUMNS = (hsb.BinaryTree(depth=4, space=SQUARE, features=[j]) for j in range(2))


def test_it_is_as_fine_as_its_finest():
    both = hsb.OneOf(ROWS, hsb.BinaryTree(depth=6, space=SQUARE))
    assert both.leaves == 64 and both.finest.leaves == 64


def test_it_needs_one_split_more_than_the_best_of_them():
    both = hsb.OneOf(ROWS, COLUMNS)
    assert both.splits(2, arms=2) == ROWS.splits(2, arms=2) + 1


def test_it_learns_whichever_feature_matters():
    import numpy as np

    rng = np.random.default_rng(0)
    for j in range(2):
        contexts = rng.random((6000, 2))
        losses = (contexts[:, [j]] > 0.5) == np.array([[False, True]])
        run = hsb.simulate(hsb.HSB(hsb.OneOf(ROWS, COLUMNS), arms=2, seed=1), contexts, 1.0 - losses)
        assert run.losses[-1000:].mean() < 0.1


@pytest.mark.parametrize("structures", [(), (ROWS, hsb.BinaryTree(depth=2)), (ROWS, "tree")])
def test_what_does_not_go_together_is_refused(structures):
    with pytest.raises(hsb.InputError):
        hsb.OneOf(*structures)
