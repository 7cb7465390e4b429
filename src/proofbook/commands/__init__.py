"""Implement the command line, with one file for each command and each output format."""
