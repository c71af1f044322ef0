"""What the driver and SQLAlchemy raise, in our words."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from unmask.database.errors import DatabaseUnavailableError


def is_passing(error: BaseException) -> bool:
    """Tell whether the same may work later: the database is gone, locked or full, as against refusing the data.

    An error that comes of cleaning up after such a one counts as that one.
    """
    if isinstance(error, DatabaseUnavailableError | OperationalError | InterfaceError | PoolTimeoutError):
        return True
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    return error.__context__ is not None and is_passing(error.__context__)


def unavailable(error: Exception) -> DatabaseUnavailableError:
    """Return the error for a database that cannot be used now, with what its driver says and no statement."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    said = " ".join(str(cause).split()) or type(cause).__name__
    return DatabaseUnavailableError(
        f"the database cannot be used: {said[:300]}; see to it that it runs, has room and may be written",
        retry_after_s=1,
    )


@contextmanager
def translated() -> Iterator[None]:
    """Raise `DatabaseUnavailableError` for whatever the database raises inside."""
    try:
        yield
    except SQLAlchemyError as error:
        raise unavailable(error) from error
