"""Keeping results for as long as they are true."""
