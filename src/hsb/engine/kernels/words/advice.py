"""The word that the I of every advisor has, an ADVISOR or an Ensemble (`advice.py`)."""

ADVICE = 13  # scratch: the arm that was last advised
