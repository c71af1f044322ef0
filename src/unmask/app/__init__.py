"""Composition root: builds the parts of a server and joins them."""
