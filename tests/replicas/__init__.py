"""Choosing among replicas, and serving on them."""
