"""What Chief's operations cost. Run ``python bench/cost.py``; ``README.md`` says how to read its tables."""
