"""What is measured, each in a process of its own in the library's environment: NumPy and the library are all that is needed there."""
