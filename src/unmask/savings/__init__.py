"""Savings: what each one saves, and the quality that has to be told with it."""
