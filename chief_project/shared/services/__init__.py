"""What changes principals and what is kept about them: one verb, one module."""
