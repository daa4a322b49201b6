"""Conditions in the SQL of LanceDB, which takes no parameters: every value goes through `text`."""

from collections.abc import Iterable


def text(value: str) -> str:
    """A string literal. What no text in UTF-8 can hold becomes a question mark, as it did in the table."""
    clean = value.encode("utf-8", "replace").decode().replace("\0", "")
    return "'" + clean.replace("'", "''") + "'"


def one_of(column: str, values: Iterable[str]) -> str:
    listed = ", ".join(sorted(map(text, values)))
    return f"{column} IN ({listed})" if listed else "false"


def all_of(conditions: Iterable[str]) -> str:
    return " AND ".join(f"({condition})" for condition in conditions)
