"""Helpers of the service's tests."""
