"""Keep results for as long as they are valid."""
