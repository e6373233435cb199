"""Off-policy evaluation: the value of policies from a log that another policy wrote."""
