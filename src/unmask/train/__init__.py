"""Trains the embedded models."""
