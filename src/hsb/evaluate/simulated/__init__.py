"""Comparing policies on problems whose losses are all known."""
