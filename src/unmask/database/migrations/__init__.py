"""Migrations, in the layout that alembic asks for."""
