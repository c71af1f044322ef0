"""Offline tuning: acts through a Backend."""
