"""The only readers of runs (design, law 1)."""
