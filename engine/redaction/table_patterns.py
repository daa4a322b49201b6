"""Patterns for passwords of databases, in a column of a table, in Markdown or a file of values, and in lists of logins.

`engine/redaction/secret_masking.py` has the rules for the expressions.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from engine.base import lazy_pattern
from engine.redaction.non_secrets import PLACEHOLDER, is_argument, is_ordinary
from engine.redaction.secret_pattern import LINE_END, LINE_PREFIX, QUOTED, SecretPattern, mixes_digits, value_of

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
_NAME = lazy_pattern(rf"[{_MARKS}{_QUOTES}]*+((?:{_NAMES})s?)[{_MARKS}{_QUOTES}\r]*+[|,;\t]?\Z", re.IGNORECASE)
_SEPARATORS = rf"{LINE_PREFIX}(?=[ \t>]*+(?:\|[ \t]*+)?:?-)(?=[^|{LINE_END}]*\|)[ \t>|:-]{{2,400}}(?:\r?\n|\Z)"
_SEPARATOR = lazy_pattern(rf"\r?\n{_SEPARATORS}")
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


def is_listed_password(_before: str, match: re.Match[str]) -> bool:
    """Whether the word after `ada@example.com:` is a password, not a port or a file on that machine.

    Lists have a login alone on its line, in a cell or after other logins; commands and sentences have words before it.
    """
    value = value_of(match)
    if not mixes_digits(value) or is_ordinary(value) or _FILE.search(value):
        return False
    line = match.string[max(0, match.start() - _LOGIN) : match.start()].rpartition("\n")[2]
    cell = _BETWEEN_CELLS.split(line)[-1]
    return _LISTED.search(cell) is not None and _ITEM_END.match(match.string, match.end()) is not None


_FILE = lazy_pattern(r"\.[A-Za-z]\w{0,3}\Z")
_BETWEEN_CELLS = lazy_pattern(r"[|\t]|[,;](?=\S)")
_LOGIN = 200
"""Characters of the login before."""
_LISTED = lazy_pattern(
    r"(?:\A[ >*+\[\"'`<(-]*+(?:\d{1,4}[.)][ ])?|[\w.-]@[\w.-]{4,80}:[^\s,;]{1,80}[,;][ ]{1,4})[\"'`<(*]*+"
    r"(?!(?:git|gitea|gitlab|forgejo|aur|hg)\Z)[\w.+-]+\Z"  # repositories' hosts have users without password
)
_ITEM_END = lazy_pattern(r"[\"'`>)*\]]*+[ ]{0,40}+(?:[,;|\t\r\n]|\Z)")

_BLANK = r"[ \t]{1,4}"
_GO_PASSWORD = "|".join(rf"""(?<=[^\s:/"'`]:([^\s:"'`]{{{length}}}))""" for length in range(1, 65))

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
        rf"(?i:(?:{_NAMES})s?)(?:[{_MARKS}{_QUOTES}]{{0,40}}(?:\|[^{LINE_END}]{{0,400}}+)?+\r?\n"
        rf"{_SEPARATORS}|(?P<csv>\"?(?:[,;\t][^{LINE_END}]{{0,400}}+)?+\r?\n))",
        "whole",
        block="column",
    ),
    SecretPattern(
        "Login in a list",
        "`ada@example.com:x`: a password with letters and a digit, alone on its line, in a cell or between commas",
        ("ada@example.com:«Passw0rd!», bob@example.com:«Sommer2024»", "- ada@example.com:«hunter2»\n"),
        (r"@(?=[\w.-]{4,80}:[^\s/])",),
        r"@[\w-]{1,40}(?:\.[\w-]{1,40}){0,3}\.[a-z]{2,8}:([^\s/:\"'`<>()\[\]{},;|@]{5,40})(?=[\s\"'`<,;|]|\Z)",
        "whole",
        is_listed_password,
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
        "Login of a database",
        "`sqlplus user/x@db`, `jdbc:oracle:thin:user/x@db`, `user:x@tcp(host)/db` of Go",
        (
            *("sqlplus ada/«hunter2»@orcl", "sqlplus -S ada/«Swordfish1»", "jdbc:oracle:thin:ada/«hunter2»@db:1521:x"),
            'sql.Open("mysql", "ada:«hunter2»@tcp(db:3306)/shop")',
        ),
        ("sqlplus ", ":thin:", "@tcp", "@unix"),
        rf"""(?i:sqlplus{_BLANK}(?:-\w{{1,4}}{_BLANK}){{0,3}}|:thin:)[^\s/@"'-][^\s/@"']{{0,60}}/"""
        rf"""([^\s@"'/]{{1,60}})(?=[@\s"']|\Z)|(?:{_GO_PASSWORD})@(?:tcp6?|unix)\(""",
        "whole",
        is_argument,
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


def cells_below(text: str, headers: Mapping[int, re.Match[str]], most: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of secrets below headers, which are given by their end, in at most `most` rows of each.

    A header has all its columns read together, and no row is read for two headers.
    """
    done = 0
    for end in sorted(headers):
        match = headers[end]
        if match.start() < done:
            continue
        if match.groupdict().get("names"):
            cells = _sql_values(text, match, most)
        else:
            start = text.rfind("\n", 0, match.start()) + 1
            prefix = _PREFIX.match(text, start, match.end())
            header = _Header(match, start if prefix is None else prefix.end(), prefix is not None and bool(prefix[0]))
            cells = (_markdown_cells if match["csv"] is None else _fields)(text, header, most)
        for start, stop in cells:
            done = start
            if start < stop and not is_ordinary(text[start:stop]):
                yield start, stop


class _Header(NamedTuple):
    match: re.Match[str]
    start: int
    """Position after the number of the line or the sign of a difference."""
    prefixed: bool
    """Whether the header has these."""


def _rows(text: str, header: _Header, most: int) -> Iterator[tuple[int, int]]:
    """Yield the lines below the header, without the number of a line or the sign of a difference."""
    position = header.match.end()
    for _ in range(most):
        line = _LINE.match(text, position, position + _LONGEST_LINE)
        if line is None or not line[1]:
            return
        prefix = _PREFIX.match(text, position, line.end(1)) if header.prefixed else None
        yield (position if prefix is None else prefix.end()), line.end(1)
        position = line.end()


def _password_columns(cells: Iterable[re.Match[str]]) -> dict[int, int]:
    """Return the columns with the name of a password, with the position of the name."""
    columns = {}
    for column, cell in enumerate(cells):
        name = _NAME.match(cell[0])
        if name is not None:
            columns[column] = cell.start() + name.start(1)
    return columns


def _markdown_cells(text: str, header: _Header, most: int) -> Iterator[tuple[int, int]]:
    """Yield the cells of the columns of passwords, up to the end of the table or to a second header with one."""
    begin = _first_cell(text, header.start, header.match.end())
    outer = text[begin - 1 : begin] == "|"
    columns = _password_columns(_CELL.finditer(text, begin, text.find("\n", begin)))
    last = max(columns, default=-1)
    for position, end in _rows(text, header, most if columns else 0):
        if text.find("|", position, end) < 0:
            return
        first = _first_cell(text, position, end)
        if _SEPARATOR.match(text, end) is not None:
            names = _password_columns(_CELL.finditer(text, first, end)).values()
            if any(header.match.re.match(text, name) for name in names):  # it is searched for itself
                return
        # A single pipe before the row may also end an empty cell.
        unclear = not outer and text[first - 1] == "|" and not text[first:end].rstrip().endswith("|")
        for column, cell in enumerate(islice(_CELL.finditer(text, first, end), last + 1)):
            if column in columns or (unclear and column + 1 in columns):
                value = cell[1].strip(_MARKS)
                start = text.index(value, cell.start())
                yield start, start + len(value)


def _first_cell(text: str, position: int, end: int) -> int:
    outer = _OUTER.match(text, position, end)
    return position if outer is None else outer.end()


def _fields(text: str, header: _Header, most: int) -> Iterator[tuple[int, int]]:
    """Yield the fields of the columns of passwords in a CSV file, up to a line with another number of fields.

    A value may also be the name of a password, so a second header only adds its columns.
    """
    line = text[header.start : header.match.end()].rstrip("\r\n")
    delimiter = next((sign for sign, form in _HEADER.items() if sign in line and form.fullmatch(line)), None)
    if delimiter is None:
        return
    field, form = _FIELD[delimiter], _HEADER[delimiter]
    columns = set(_password_columns(field.finditer(text, header.start, header.start + len(line))))
    number = line.count(delimiter) + 1
    for position, end in _rows(text, header, most if columns else 0):
        fields = list(islice(field.finditer(text, position, end), number + 2))
        if fields and fields[-1].start() == end and text[end - 1] != delimiter:
            fields.pop()  # the empty match at the end
        if len(fields) != number or all(text.startswith(" ", fields[column].start()) for column in columns):
            return  # the next line of a sentence
        names = _password_columns(fields)
        if names and form.fullmatch(text, position, end):
            columns.update(names)
            yield end, end
        else:
            names = {}
        for column in columns - names.keys():
            yield fields[column].span(fields[column].lastindex or 0)


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
