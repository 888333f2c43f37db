"""Which database addresses we can serve, and what to write instead of those we cannot."""

from __future__ import annotations

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from storage.errors import BadDatabaseUrl

FORMS = "use sqlite:///FOLDER/FILE.db or mysql+pymysql://USER:PASSWORD@HOST:3306/DATABASE"
MYSQL = {"mysql+pymysql": "mysql+pymysql", "mariadb+pymysql": "mysql+pymysql"}
SQLITE = ("sqlite", "sqlite+pysqlite")


def database_url(address: str) -> URL:
    """The address as an engine takes it. Raises BadDatabaseUrl; its message never repeats a password."""
    try:
        url = make_url(address)
    except (ArgumentError, ValueError) as error:
        raise BadDatabaseUrl(f"The database address cannot be read: {FORMS}.") from error
    if url.drivername in SQLITE:
        return _sqlite(url)
    if url.drivername in MYSQL:
        return _mysql(url.set(drivername=MYSQL[url.drivername]))
    if url.drivername.split("+")[0] in ("mysql", "mariadb"):
        raise BadDatabaseUrl(f"{url.drivername}:// needs a driver we do not ship: write mysql+pymysql:// instead.")
    raise BadDatabaseUrl(f"{url.drivername}:// is no database we can use: {FORMS}.")


def sqlite_file(url: URL) -> str | None:
    """The file of a SQLite address, None for a server."""
    if url.drivername not in SQLITE:
        return None
    return (url.database or "").removeprefix("file:")


def shown(url: URL) -> str:
    return url.render_as_string(hide_password=True)


def _sqlite(url: URL) -> URL:
    if sqlite_file(url) in ("", ":memory:"):
        raise BadDatabaseUrl("A database in memory is lost with its process: write sqlite:///FOLDER/FILE.db.")
    return url


def _mysql(url: URL) -> URL:
    if not url.database:
        raise BadDatabaseUrl(f"{shown(url)} names no database: end the address with /DATABASE.")
    # Anything less than utf8mb4 loses emoji and rare characters.
    return url.update_query_dict({"charset": "utf8mb4"})
