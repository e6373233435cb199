"""What is read from and written to disk: policy files, JSON values, zip archives, generators' states, atomic writes, limits."""
