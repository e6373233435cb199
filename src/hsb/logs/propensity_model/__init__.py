"""Propensities that nobody wrote down: a model of who wrote the log, and how well it fits."""
