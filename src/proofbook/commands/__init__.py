"""What the command line does: one command, or one form of its answer, a file."""
