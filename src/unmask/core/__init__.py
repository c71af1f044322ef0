"""Ties the scheduler to the engine; owns the engine thread."""
