"""Tests of reading answers."""
