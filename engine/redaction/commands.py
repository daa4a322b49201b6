"""Which values in command lines, SQL and `.netrc` files are passwords."""

import re

from engine.redaction.non_secrets import PLACEHOLDER, is_ordinary, value_of

_LOOK_BACK = 400
# The short options that take a password, by program. After "user:" the password follows a user's name and a colon;
# after "attached" it follows without a blank.
_OPTIONS = {
    "curl": ("user:", "u U -user -proxy-user"),
    "http": ("user:", "a -auth"),
    "https": ("user:", "a -auth"),
    "xh": ("user:", "a -auth"),
    "mysql": ("attached", "p"),
    "mariadb": ("attached", "p"),
    "7z": ("attached", "p"),
    "rar": ("attached", "p"),
    "sshpass": ("", "p"),
    "login": ("", "p"),
    "mongo": ("", "p"),
    "redis-cli": ("", "a"),
    "sqlcmd": ("", "P"),
    "zip": ("", "P"),
    "unzip": ("", "P"),
    "ldap": ("", "w"),
    "openssl": ("pass:", "pass passin passout"),
}
_COMMAND = re.compile(
    r"(?<![\w.-])(?:(curl|https?|xh|sshpass|login|redis-cli|sqlcmd|rar|(?:un)?zip|openssl)|(mysql|mariadb|mongo|7z|ldap)[\w-]{0,12})"
    r"(?=[ \t\\])"
)
_COMMAND_START = re.compile(r"(?<!\\)\n|[|;]|&&")
_MACHINE = re.compile(
    r"\b(?:machine\s{1,8}\S{1,253}|default\s{1,8}login\s{1,8}\S{1,128})(?:\s{1,8}(?:login|account)\s{1,8}\S{1,128}){0,2}\s{1,8}\Z"
)
_SQL = re.compile(
    r"\b(?:with|encrypted|user|role|login|set|alter|create|grant|identified)\b[^\n]{0,40}\Z", re.IGNORECASE
)
_ACCOUNT = re.compile(r"\b(?:create|alter|grant)\b", re.IGNORECASE)


def is_program_login(before: str, match: re.Match[str]) -> bool:
    """For `-u user:…` and other options that take a name and a password."""
    form, options = _options(match)
    return form == "user:" and match["option"] in options.split() and not PLACEHOLDER.fullmatch(value_of(match))


def is_program_password(before: str, match: re.Match[str]) -> bool:
    """For `-p…`, `-passin pass:…` and other options that take a password."""
    form, options = _options(match)
    if form == "user:" or match["option"] not in options.split() or PLACEHOLDER.fullmatch(value_of(match)):
        return False
    return (form == "pass:") == bool(match["form"]) and not (form == "attached" and match["gap"])


def _options(match: re.Match[str]) -> tuple[str, str]:
    """Of the command that the option belongs to."""
    start = max(0, match.start() - _LOOK_BACK)
    commands = _COMMAND.findall(_COMMAND_START.split(match.string[start : match.start()])[-1])
    return _OPTIONS["".join(commands[-1])] if commands else ("", "")


def is_netrc(before: str, match: re.Match[str]) -> bool:
    """For `machine … login … password …`."""
    start = max(0, match.start() - _LOOK_BACK)
    return _MACHINE.search(match.string, start, match.start()) is not None and not is_ordinary(value_of(match))


def is_sql_password(before: str, match: re.Match[str]) -> bool:
    """For `PASSWORD '…'` in SQL."""
    return _SQL.search(before) is not None and not PLACEHOLDER.fullmatch(value_of(match))


def is_identified(before: str, match: re.Match[str]) -> bool:
    """For `IDENTIFIED BY …`."""
    value = value_of(match)
    if PLACEHOLDER.fullmatch(value) or (match["quoted"] is None and is_ordinary(value)):
        return False
    return match[0].startswith("IDENTIFIED") or _ACCOUNT.search(before) is not None
