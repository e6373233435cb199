"""Compiled code for the paper's experiments only."""
