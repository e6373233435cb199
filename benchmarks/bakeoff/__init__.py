"""The contextual bandit bake-off: real tables as bandit problems, hsb's default on raw rows against what other libraries offer."""
