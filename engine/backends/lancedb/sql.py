"""Conditions in the SQL of LanceDB, which has no parameters: every value is quoted by `text`."""

from collections.abc import Iterable


def text(value: str) -> str:
    """A string literal. Characters that UTF-8 can't encode become question marks, as in the table."""
    clean = value.encode("utf-8", "replace").decode().replace("\0", "")
    return "'" + clean.replace("'", "''") + "'"


def one_of(column: str, values: Iterable[str]) -> str:
    listed = ", ".join(sorted(map(text, values)))
    return f"{column} IN ({listed})" if listed else "false"


def all_of(conditions: Iterable[str]) -> str:
    return " AND ".join(f"({condition})" for condition in conditions)
