"""Slow, obvious versions of what the package computes, for the tests to compare with."""
