"""The engine and its scheduler together: laws, thread, front."""
