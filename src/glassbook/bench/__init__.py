"""What the benchmarks measure, and the tables that chapters show of them."""
