"""Measures alternatives side by side in one run."""
