"""Estimating propensities that were not logged: a model of the logging policy, and its fit."""
