"""What a checked page shows a reader."""
