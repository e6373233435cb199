"""Compiled code: plain arrays in, plain arrays out, no checks, no randomness.

Importing this package imports Numba (about half a second), so the rest of the library does it on first use.

A policy's state is a tuple of *members*: one for a plain structure, several under `OneOf`. Each member is two flat
arrays, `F` (float64) and `I` (int64); the first words of `I` say where everything lies (`header.py`).
"""
