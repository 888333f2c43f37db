"""Is a text one reading statement? The database refuses writes by itself; this says so before it is asked."""

from __future__ import annotations

import re

from storage.errors import QueryRefused

# Quoted strings and names, then comments: a semicolon inside them ends nothing.
QUOTED = re.compile(
    r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"|`[^`]*`|--[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL
)
# MySQL runs the inside of these comments.
RUN_COMMENT = re.compile(r"/\*M?!")
WRITES_ELSEWHERE = re.compile(r"\bINTO\b|\bFOR\s+UPDATE\b|\bLOCK\s+IN\b|\bFOR\s+SHARE\b", re.IGNORECASE)
READS = re.compile(r"\s*(?:SELECT|WITH)\b", re.IGNORECASE)


def refuse_unless_one_read(sql: str) -> None:
    """Raises QueryRefused, naming what to change."""
    bare = QUOTED.sub(" ", sql)
    if RUN_COMMENT.search(sql):
        raise QueryRefused("The query holds a comment that MySQL would run: remove /*! … */.")
    if ";" in bare.rstrip().removesuffix(";"):
        raise QueryRefused("The query holds more than one statement: write one query a name.")
    if not READS.match(bare):
        raise QueryRefused("The query must be one SELECT (or WITH … SELECT).")
    if WRITES_ELSEWHERE.search(bare):
        raise QueryRefused("The query would write a file or lock rows: leave out INTO, FOR UPDATE and the like.")
