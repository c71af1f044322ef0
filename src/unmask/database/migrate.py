"""Brings the tables of a database up to this version."""

from importlib.resources import files

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine

from unmask.database.errors import DatabaseSchemaError
from unmask.database.failures import translated
from unmask.database.place import PARAM
from unmask.database.transactions import reading, writing

MIGRATION_LOCK = 0x756E6D6B_00
"""Number of the lock that processes take turns by."""


def migrate(engine: Engine) -> None:
    """Run the migrations that the database lacks; one process at a time does so.

    Raises:
        DatabaseSchemaError: it was made by a newer version.
        DatabaseUnavailableError: it does not answer or cannot be written.
    """
    config = Config()
    config.set_main_option("script_location", str(files("unmask.database") / "migrations"))
    head = ScriptDirectory.from_config(config).get_current_head()
    with translated():
        with reading(engine) as connection:
            if MigrationContext.configure(connection).get_current_revision() == head:
                return
        with writing(engine, MIGRATION_LOCK) as connection:
            _check_known(MigrationContext.configure(connection).get_current_revision(), config)
            config.attributes["connection"] = connection
            command.upgrade(config, "head")


def _check_known(revision: str | None, config: Config) -> None:
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if revision is not None and revision not in known:
        raise DatabaseSchemaError(
            f"the database is of revision {revision[:40]!r}, which this version does not know; "
            f"run the version that made it or a newer one, or name another database in {PARAM}",
            param=PARAM,
        )
