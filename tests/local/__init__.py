"""The backend over our own engine."""
