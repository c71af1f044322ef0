"""Opens the database that ledger and keys live in: SQLite or PostgreSQL, through one code path."""
