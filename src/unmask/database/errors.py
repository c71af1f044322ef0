"""What may go wrong with the database."""

from unmask.errors import ConfigError, RetryLaterError


class DatabaseUnavailableError(RetryLaterError):
    """The database does not answer or cannot write: gone, locked, disk full."""


class DatabaseSchemaError(ConfigError):
    """The database was made by a newer version, or is none of ours."""
