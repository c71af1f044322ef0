"""Task types."""
