"""A whole book: run, and compared with what its pages say."""
