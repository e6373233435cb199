"""What a log that one policy wrote says of others."""
