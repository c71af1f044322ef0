"""Fakes, builders and a clock that tests move by hand."""
