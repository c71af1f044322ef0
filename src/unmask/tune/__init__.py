"""Offline tuning: measures what steps buy through any `Backend`, and proposes policies from it."""
