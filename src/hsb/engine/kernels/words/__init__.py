"""What the words of each kind's `I` mean, a module for each kind: two kinds may give one number different names (`header.py`)."""
