"""Alembic's entry. `storage.engine.upgrade` passes a connection; the alembic command passes `-x url=…`."""

from importlib import import_module
from pkgutil import iter_modules

from alembic import context
from sqlalchemy import Connection

import storage
from storage.database import Database, migration_engine
from storage.types import metadata

for module in iter_modules(storage.__path__):
    if module.name.startswith("models"):
        import_module(f"storage.{module.name}")


def run(connection: Connection) -> None:
    sqlite = connection.dialect.name == "sqlite"
    context.configure(connection=connection, target_metadata=metadata, render_as_batch=sqlite)
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    url = context.get_x_argument(as_dictionary=True).get("url")
    if url is None:
        raise SystemExit("Name the database: alembic -x url=sqlite:///FILE.db …")
    with migration_engine(Database(url)).begin() as connection:
        run(connection)
