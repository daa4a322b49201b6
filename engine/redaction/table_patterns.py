"""Patterns for passwords in SQL and in a column of a table, in Markdown or a file of values (CSV).

`engine/redaction/secret_masking.py` has the rules for the expressions.
"""

import re
from collections.abc import Iterator
from itertools import islice

from engine.base import lazy_pattern
from engine.redaction.non_secrets import PLACEHOLDER, is_ordinary
from engine.redaction.secret_pattern import LINE_END, LINE_PREFIX, QUOTED, SecretPattern, value_of

_COLUMNS = tuple(
    """password|passwort|passwörter|passwd|passphrase|kennwort|pwd|pw|psk|mot de passe|contraseña|senha|wachtwoord|hasło
    |пароль|密码|密碼|パスワード|비밀번호""".replace("\n    ", "").split("|")
)
"""Names of columns. Other words for a password are also names of pins, tests or words in a table."""
_NAMES = "|".join(_COLUMNS)
_LONGEST_LINE = 64 * 1024
_LINE = lazy_pattern(r"([^\r\n]*+)\r?\n?")
_PREFIX = lazy_pattern(LINE_PREFIX)
_OUTER = lazy_pattern(r"[ \t>]*+(?:[+-](?=[ \t]*\|))?+[ \t>]*+\|?")  # before the first cell
_CELL = lazy_pattern(r"((?:[^|\\]|\\.?)*+)(?:\||\Z)")
_MARKS = " \t>*`"  # around the value of a cell
_QUOTES = "\"':"  # also around the name of a column
_SQL = lazy_pattern(
    r"\b(?:with|encrypted|user|role|login|set|alter|create|grant|identified)\b[^\n]{0,40}\Z", re.IGNORECASE
)
_ACCOUNT = lazy_pattern(r"\b(?:create|alter|grant)\b", re.IGNORECASE)
_SQL_NAME = lazy_pattern(rf"[`\"\[]?(?:\w{{1,40}}_)?(?:{_NAMES})[`\"\]]?", re.IGNORECASE)
_SQL_ROW = lazy_pattern(r"\s{0,40},?\s{0,400}\(((?:'(?:[^'\\]|''|\\.)*+'|[^'()\\]|\\(?!')|\([^'()]*\))*+)\)")
_SQL_VALUE = lazy_pattern(r"\s*(?:[NEne]?'((?:[^'\\]|''|\\.)*+)'|(?:[^',()]|\([^'()]*\))*+)\s*(?:,|\Z)")
_HEADER = {
    delimiter: lazy_pattern(rf"(?:\"?[^\W\d][\w .()-]{{0,40}}(?<! )\"?(?:{delimiter}(?! )|\Z)){{2,60}}")
    for delimiter in ",;\t"
}
_FIELD = {
    delimiter: lazy_pattern(rf"(?:\"((?:[^\"\r\n]|\"\")*+)\"|([^{delimiter}\"\r\n]*+))(?:{delimiter}|\Z)")
    for delimiter in ",;\t"
}


def is_sql_password(before: str, match: re.Match[str]) -> bool:
    """Whether the value in `PASSWORD '…'` in SQL is a secret."""
    return _SQL.search(before) is not None and not PLACEHOLDER.fullmatch(value_of(match))


def is_identified(before: str, match: re.Match[str]) -> bool:
    """Whether the value in `IDENTIFIED BY …` in SQL is a secret."""
    value = value_of(match)
    if PLACEHOLDER.fullmatch(value) or (match["quoted"] is None and is_ordinary(value)):
        return False
    return match[0].startswith("IDENTIFIED") or _ACCOUNT.search(before) is not None


TABLE_PATTERNS: tuple[SecretPattern, ...] = (
    SecretPattern(
        "Column of passwords",
        "the cells below `password`, `Passwort`, `mot de passe` and others in the first line of a Markdown table or of "
        "values with commas, semicolons or tabs between them (CSV)",
        (
            "| user | password |\n|---|---|\n| ada | «hunter2» |\n| bob | «swordfish» |\n",
            "Site | Passwort | URL\n--- | --- | ---\nx | `«tugboat»` | y",
            'url,username,password,note\nhttps://x,ada,«hunter2»,\nhttps://y,bob,"«pa,ss""wd»",x\n',
            "Name;Kennwort\nada;«swordfish»\n",
        ),
        _COLUMNS,
        rf"(?i:(?:{_NAMES})s?)(?:[{_MARKS}{_QUOTES}]{{0,40}}(?:\|[^{LINE_END}]{{0,400}})?\r?\n"
        rf"{LINE_PREFIX}(?=[ \t>]*\|?[ \t]*:?-)(?=[^|{LINE_END}]*\|)[ \t>|:-]{{2,400}}(?:\r?\n|\Z)"
        rf"|(?P<csv>\"?(?:[,;\t][^{LINE_END}]{{0,400}})?\r?\n))",
        "whole",
        block="column",
    ),
    SecretPattern(
        "Password in SQL",
        "`WITH PASSWORD '…'`, `IDENTIFIED BY '…'`, `SET PASSWORD = PASSWORD('…')`",
        (
            "CREATE ROLE ada WITH LOGIN PASSWORD '«hunter2»';",
            "ALTER USER ada WITH ENCRYPTED PASSWORD '«correct horse»'",
            "ALTER LOGIN ada WITH PASSWORD = N'«hunter2»'",
            "SET PASSWORD FOR ada = PASSWORD('«hunter2»')",
            "SET PASSWORD FOR 'ada'@'%' = '«hunter2»'",
        ),
        ("pass",),
        rf"(?i:password(?:[ \t]{{1,4}}for[ \t]{{1,4}}\S{{1,128}})?)"
        rf"[ \t]{{0,4}}(?:\([ \t]{{0,4}}|=[ \t]{{0,4}}|[ \t])N?{QUOTED}",
        "whole",
        is_sql_password,
    ),
    SecretPattern(
        "Password after IDENTIFIED BY",
        "`IDENTIFIED BY '…'`, also with a plug-in's name",
        (
            "CREATE USER ada IDENTIFIED BY '«hunter2»'",
            "GRANT ALL ON x TO ada IDENTIFIED BY «hunter2»;",
            "ALTER USER ada IDENTIFIED WITH mysql_native_password BY '«hunter2»';",
        ),
        ("identified ",),
        r"(?i:identified\s{1,8}(?:with\s{1,4}\S{1,64}\s{1,4})?by\s{1,8}(?:(?:values|password)\s{1,4})?)"
        rf"(?:{QUOTED}|([^\s\"'`;,()]++))",
        "whole",
        is_identified,
    ),
    SecretPattern(
        "Password in a row of SQL",
        "the values for `password`, `user_passwd` and others in `INSERT INTO … (…, password) VALUES (…)`",
        (
            "INSERT INTO users (name, password) VALUES ('ada', '«hunter2»'), ('bob', '«it''s me»');",
            "insert into `users` (`id`, `user_pwd`, `at`)\nvalues (1, '«swordfish»', now())",
        ),
        ("insert into ",),
        r"(?i:insert[ ]into[ ]{1,4}[^\s()]{1,120}\s{0,8})\((?P<names>[^()]{1,2000})\)\s{0,40}(?i:values)(?=\s{0,40}\()",
        "whole",
        block="column",
    ),
)


def cells_below(text: str, match: re.Match[str], most: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of the cells in the column of passwords that the match names, of `most` rows."""
    groups = match.groupdict()
    if groups.get("names"):
        yield from _sql_values(text, match, most)
        return
    position = text.rfind("\n", 0, match.start()) + 1
    prefix = _PREFIX.match(text, position, match.end())
    position, prefixed = (prefix.end(), bool(prefix[0])) if prefix is not None else (position, False)
    if groups["csv"] is None:
        yield from _markdown_cells(text, match, position, prefixed, most)
        return
    before, header = text[position : match.start()], text[position : match.end()].rstrip("\r\n")
    delimiter = next((sign for sign, line in _HEADER.items() if line.fullmatch(header)), None)
    if delimiter is not None and before.rpartition(delimiter)[2] in ("", '"'):
        yield from _fields(
            text, match, delimiter, (before.count(delimiter), header.count(delimiter) + 1), prefixed, most
        )


def _rows(text: str, position: int, prefixed: bool, most: int) -> Iterator[tuple[int, int]]:
    """Yield the lines from the position on, without the number of a line or the sign of a difference."""
    for _ in range(most):
        line = _LINE.match(text, position, position + _LONGEST_LINE)
        if line is None or not line[1]:
            return
        prefix = _PREFIX.match(text, position, line.end(1)) if prefixed else None
        yield (position if prefix is None else prefix.end()), line.end(1)
        position = line.end()


def _markdown_cells(
    text: str, match: re.Match[str], header: int, prefixed: bool, most: int
) -> Iterator[tuple[int, int]]:
    """Yield the cells of a column, up to the end of the table or to a second header with the same column."""
    begin, column = _first_cell(text, header, match.start()), 0
    outer = text[begin - 1 : begin] == "|"
    for cell in _CELL.finditer(text, begin, match.start()):
        if cell.end(1) < cell.end():
            begin, column = cell.end(), column + 1
    if text[begin : match.start()].strip(_MARKS + _QUOTES):
        return
    for position, end in _rows(text, match.end(), prefixed, most):
        if text.find("|", position, end) < 0:
            return
        first = _first_cell(text, position, end)
        # A single pipe before the row may also end an empty cell.
        unclear = not outer and text[first - 1] == "|" and not text[first:end].rstrip().endswith("|")
        for cell in islice(_CELL.finditer(text, first, end), max(0, column - unclear), column + 1):
            value = cell[1].strip(_MARKS)
            start = text.index(value, cell.start())
            again = match.re.match(text, start + value.startswith(tuple(_QUOTES)), start + _LONGEST_LINE)
            if again is not None and again["csv"] is None:  # it is searched for itself
                return
            yield start, start + len(value)


def _first_cell(text: str, position: int, end: int) -> int:
    outer = _OUTER.match(text, position, end)
    return position if outer is None else outer.end()


def _fields(
    text: str,
    match: re.Match[str],
    delimiter: str,
    column_and_columns: tuple[int, int],
    prefixed: bool,
    most: int,
) -> Iterator[tuple[int, int]]:
    """Yield the fields of a column of a CSV file, up to a line with another number of fields."""
    column, columns = column_and_columns
    for position, end in _rows(text, match.end(), prefixed, most):
        fields = list(_FIELD[delimiter].finditer(text, position, end))
        if fields and fields[-1].end() == end and not fields[-1][0] and text[end - 1] != delimiter:
            fields.pop()  # the empty match at the end
        if len(fields) != columns or text.startswith(" ", fields[column].start()):  # the next line of a sentence
            return
        start, stop = fields[column].span(fields[column].lastindex or 0)
        if start < stop and _HEADER[delimiter].fullmatch(text, position, end):
            again = match.re.match(text, start, start + _LONGEST_LINE)
            if again is not None and again["csv"] is not None:  # it is searched for itself
                return
        yield start, stop


def _sql_values(text: str, match: re.Match[str], most: int) -> Iterator[tuple[int, int]]:
    """Yield the strings of the columns of passwords in the rows after `VALUES`."""
    names = [name.strip() for name in match["names"].split(",")]
    columns = {column for column, name in enumerate(names) if _SQL_NAME.fullmatch(name)}
    position = match.end()
    for _ in range(most if columns else 0):
        row = _SQL_ROW.match(text, position, position + _LONGEST_LINE)
        if row is None:
            return
        for column, value in enumerate(_SQL_VALUE.finditer(text, *row.span(1))):
            if column in columns and value[1]:
                yield value.span(1)
        position = row.end()
