"""Forward passes, strategies and KV pages; the only home of torch."""
