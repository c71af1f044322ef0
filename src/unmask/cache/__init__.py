"""Answers that were given before: found again by the same words or by words that ask the same."""
