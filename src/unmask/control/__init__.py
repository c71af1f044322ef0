"""The request's story: its task type, difficulty and budget, and what becomes of its answer."""
