"""hsb beside the libraries people use: the same rounds, each library used as its own documentation says."""
