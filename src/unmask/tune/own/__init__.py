"""Task types that a user brings: a file of items, how answers are checked, and what counts as a failure."""
