"""Tests of `unmask.control`."""
