"""Helpers of several test files: cases, generators, processes, and the simulator."""
