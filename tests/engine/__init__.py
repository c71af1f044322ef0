"""Forwards, signals, strategies, weights."""
