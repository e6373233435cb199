"""Compiled code that only the paper's experiments need."""
