"""Helpers of `tests/structures/test_exact.py`, shared with other tests."""

EXACT = 1e-10
