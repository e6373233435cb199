"""Total losses of every leaf and arm, and their best mapping: by hand and against listing all mappings."""

import numpy as np
import pytest
from naive import leaders as naive

import hsb
from hsb.learners import leaf_totals
from hsb.learners.leaf_totals import LeafTotals, best_mapping


@pytest.mark.parametrize("regions", [None, 1, 2, 3, 9])
def test_the_best_mapping_is_that_of_all(regions):
    rng = np.random.default_rng(0)
    for _ in range(30):
        totals = rng.integers(0, 5, size=(4, 3)).astype(float)
        mapping, loss = best_mapping(totals, regions)
        assert (loss, tuple(mapping.tolist())) == naive.best_mapping(totals, regions)


def test_a_new_arm_begins_where_the_best_mapping_stands():
    table = LeafTotals.fresh(3, 2)._replace(totals=np.array([[1.0, 2.0], [5.0, 3.0], [4.0, 4.0]]))
    assert table.with_arm().totals.tolist() == [[1.0, 2.0, 1.0], [5.0, 3.0, 3.0], [4.0, 4.0, 4.0]]
    assert table.arms == 2 and table.limit == 0 and table._replace(regions=2).limit == 2


def test_a_copy_is_independent():
    table = LeafTotals.fresh(2, 2)
    table.copy().totals[0, 0] = 1.0
    assert not table.totals.any()


def test_without_a_structure_there_is_one_leaf():
    table = LeafTotals.fresh(None, 3)
    assert table.totals.shape == (1, 3) and table.keys.read("anything")[0].tolist() == [0]


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, 1e301])
def test_totals_that_no_rounds_lead_to_are_refused(value):
    table = LeafTotals.fresh(2, 2)
    table.check_sums()
    table.totals[1, 0] = value
    with pytest.raises(ValueError, match="not sums of losses"):
        table.check_sums()


def test_tables_and_searches_beyond_a_gigabyte_are_refused():
    with pytest.raises(hsb.BudgetError, match=r"leaves x 2 arms are more totals .* Use a coarser structure, or hsb.HSB"):
        leaf_totals.check_budget(leaf_totals.MOST_TOTALS, 2, 0)
    with pytest.raises(hsb.BudgetError, match="fewer regions, or regions=None"):
        leaf_totals.check_budget(1 << 14, 2, 1 << 14)
    with pytest.raises(hsb.InputError, match="regions"):
        LeafTotals.fresh(4, 2, 0)
