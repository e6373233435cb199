"""Compiled code: plain arrays in, plain arrays out, no checks, no randomness.

Importing this package may import Numba (about half a second), so the rest of the library does it on first use.

A state is two flat arrays, `F` (float64) and `I` (int64), that hold its *members* one after the other. `header.py` has the layout.
"""
