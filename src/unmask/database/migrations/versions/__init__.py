"""One file a migration, named by its number; each names the one before it."""
