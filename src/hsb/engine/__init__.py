"""The two halves of one memory layout: `state/` in Python, `kernels/` compiled."""
