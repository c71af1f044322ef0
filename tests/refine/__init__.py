"""Queues, pages, rows and batches."""
