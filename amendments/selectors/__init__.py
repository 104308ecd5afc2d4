"""The only readers of amendments (design, law 1)."""
