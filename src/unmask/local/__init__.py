"""The `Backend` that is our own engine."""
