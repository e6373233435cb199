"""The words of `I`, one module for each kind of member: two kinds may give one number different names (`header.py`)."""
