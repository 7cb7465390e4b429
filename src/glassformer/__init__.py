"""The transformer from first principles, one idea a file."""
