"""The formats that logs are read from and written to, a file each."""
