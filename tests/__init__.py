"""Tests, laid out as `src/unmask` is."""
