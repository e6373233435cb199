"""Policies on problems whose losses are all known."""
