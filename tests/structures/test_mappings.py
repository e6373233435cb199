"""Listing mappings: all of them, once, counted beforehand."""

from itertools import product

import pytest
from naive.experts import few_regions, number_of_mappings
from support.refusals import refused

import hsb
from hsb.structures.mappings import MOST_MAPPINGS, every_mapping, mappings

TREE = hsb.BinaryTree(depth=2)


def test_listed_mappings_are_all_of_few_regions_once():
    for leaves in range(1, 7):
        for arms in range(1, 5):
            for regions in range(1, 8):
                table = mappings(leaves, arms=arms, regions=regions).table
                expected = few_regions(leaves, arms, regions)
                assert table.shape == (len(expected), leaves)
                assert {tuple(row) for row in table.tolist()} == expected


def test_too_many_mappings_are_refused_before_they_are_listed():
    refused(lambda: mappings(1024, arms=3, regions=3), ["6,279,177 mappings", "1,000,000", "hsb.HSB"], hsb.BudgetError)
    assert number_of_mappings(1024, 3, 3) == 6_279_177
    refused(lambda: mappings(TREE, arms=3, regions=2, budget=20), ["21 mappings", "is 20"], hsb.BudgetError)
    assert len(mappings(TREE, arms=3, regions=2, budget=21)) == 21
    refused(lambda: mappings(1 << 26, arms=9, regions=10**9), ["More than about 2^"], hsb.BudgetError)
    assert number_of_mappings(10_000, 9, 2) < MOST_MAPPINGS
    refused(lambda: mappings(10_000, arms=9, regions=2), ["719,937 mappings", "28.8 GB"], hsb.BudgetError)
    assert len(mappings(1000, arms=1, regions=500)) == 1


def test_a_listed_table_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        mappings(TREE, arms=2, regions=1).table[0, 0] = 1


def test_every_mapping_is_listed_in_order():
    assert every_mapping(TREE, arms=3).table.tolist() == [list(g) for g in product(range(3), repeat=4)]
    assert len(every_mapping(1000, arms=1)) == 1
