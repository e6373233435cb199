"""What the tests of `tests/structures/test_exact.py` share with others."""

EXACT = 1e-10
