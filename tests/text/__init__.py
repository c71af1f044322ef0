"""Tokenising."""
