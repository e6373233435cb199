"""Files: policies, JSON values, zip archives, states of random generators, atomic writes, memory limits."""
