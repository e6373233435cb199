"""The formats of logs that are read and written, one module each."""
