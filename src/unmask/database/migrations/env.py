"""Run by alembic: takes the connection, and its transaction, of `unmask.database.migrate`."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
