"""Queues, pages and batches: what runs next. Knows nothing of torch."""
