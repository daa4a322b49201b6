"""Secrets that are known by the syntax of a program, a file format or SQL; a judge looks at each match.

`engine/redaction/masks.py` has the rules for the expressions.
"""

import re

from engine.redaction.non_secrets import PLACEHOLDER, is_auth_field, is_block, is_element, is_ordinary, value_of
from engine.redaction.pattern import BARE_PASSWORD, BARE_TOKEN, LINE_END, NAME_END, QUOTED, SIGN, SecretPattern

_OPTION_ANCHOR = r"-(?<=[ \t]-)(?=[upPaUw]|-user|-proxy|-auth)"
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


TOLD_BY_SYNTAX: tuple[SecretPattern, ...] = (
    SecretPattern(
        "Login of a program",
        "`curl -u user:x`, `--user user:x`, `http -a user:x`",
        (
            "curl -u ada:«hunter2» https://example.com",
            "curl -X POST --user 'ada:«correct horse»' https://example.com",
            "curl -s \\\n  -u ada:«hunter2» \\\n  https://example.com",
            "http -a ada:«hunter2» example.com",
        ),
        (_OPTION_ANCHOR,),
        r"""-(?P<option>[uUa]|-user|-proxy-user|-auth)[ \t=]{0,2}"""
        r"""(?:(?P<quote>["'])[^\s:"']{0,128}:([^"'\n]{1,200}+)(?P=quote)|[^\s:"'`]{0,128}:([^\s"'`]{1,200}+))""",
        "whole",
        is_program_login,
    ),
    SecretPattern(
        "Password of a program",
        "`mysql -px`, `sshpass -p x`, `docker login -p x`, `redis-cli -a x`, options of MongoDB, LDAP, zip and OpenSSL",
        (
            "mysql -u root -p«hunter2» shop",
            "mysqldump -h db -p'«pa ss»' shop > x.sql",
            "sshpass -p «hunter2» ssh ada@host",
            "sshpass -p'«hunter2»' ssh ada@host",
            "docker login -u ada -p «swordfish» registry",
            "redis-cli -a «hunter2» ping",
            "openssl rsa -passin pass:«hunter2» -in key.pem",
        ),
        (_OPTION_ANCHOR,),
        rf"-(?P<option>pass(?:in|out)?(?=[ \t])|[pPaw])(?P<gap>[ \t=]{{0,2}})(?P<form>pass:)?"
        rf"(?:{QUOTED}|{BARE_PASSWORD})",
        "whole",
        is_program_password,
    ),
    SecretPattern(
        "Password in a .netrc file",
        "`machine … login … password x`, on one line or several",
        (
            "machine example.com login ada password «hunter2»",
            "machine example.com\n  login ada\n  password «swordfish»",
            "default login ada password «hunter2»",
        ),
        ("pass",),
        r"(?i:passw(?:or)?d)\s{1,8}([^\s\"'`]++)",
        "whole",
        is_netrc,
    ),
    SecretPattern(
        "Password in SQL",
        "`WITH PASSWORD '…'`, `IDENTIFIED BY '…'`, `SET PASSWORD = PASSWORD('…')`",
        (
            "CREATE ROLE ada WITH LOGIN PASSWORD '«hunter2»';",
            "ALTER USER ada WITH ENCRYPTED PASSWORD '«correct horse»'",
            "ALTER LOGIN ada WITH PASSWORD = N'«hunter2»'",
            "SET PASSWORD FOR ada = PASSWORD('«hunter2»')",
        ),
        ("pass",),
        rf"(?i:password)[ \t]{{0,4}}(?:\([ \t]{{0,4}}|=[ \t]{{0,4}}|[ \t])N?{QUOTED}",
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
        "Secret in XML",
        '`<password>…</password>`, `<token>`, `<apiKey>`, `<string name="api_key">` and the entries of property lists',
        (
            "<password>«hunter2»</password>",
            "<db:dbPassword>«correct horse»</db:dbPassword>",
            "<apiKey>«swordfish»</apiKey>",
            "<client_secret>«swordfish»</client_secret>",
            '<string name="api_key">«swordfish»</string>',
            '<property name="password">«hunter2»</property>',
            "<key>Password</key>\n\t<string>«hunter2»</string>",
            '<add key="ClearTextPassword" value="«hunter2»" />',
        ),
        ("pass", "pwd", "kennwort", "psk", "token", "secret", "key"),
        rf"(?i:passw(?:or[dt]|d)|passphrase|passcode|pass|kennwort|pwd|psk|token|secret|key)"
        rf"(?:(?:\"|[ \t][^<>{LINE_END}]{{1,80}})?>(?P<quoted>[^<>{LINE_END}]{{1,200}}+)</"
        rf"|</key>\s{{0,40}}<string>([^<>{LINE_END}]{{1,200}}+)</string>"
        rf"|\"[ \t]{{1,4}}value[ \t]?=[ \t]?\"([^\"{LINE_END}]{{1,200}}+)\")",
        "whole",
        is_element,
    ),
    SecretPattern(
        "Secret in a YAML block",
        "the indented lines below the name of a secret, as in `password: >-`",
        (
            "token: |\n  «swordfish»\nnext: 1",
            "  password: >-\n    «hunter2»\n  user: ada",
            "api_key: |\n    «a1b2c3d4»\n    «e5f6a7b8»",
        ),
        ("pass", "pwd", "token", "secret", "key"),
        r"(?i:passw(?:or[dt]|d)|passphrase|passcode|pwd|token|secret|key)[\"']?[ \t]{0,4}:[ \t]{0,4}[|>]"
        r"[+-]?[0-9]?[+-]?[ \t]{0,8}\r?\n",
        "whole",
        is_block,
        block="yaml",
    ),
    SecretPattern(
        "Login in base64",
        '`"auth": "…"`, `_auth=…` of Docker, npm and others',
        ('{"auths": {"https://x": {"auth": "«YWRhOmh1bnRlcjI=»"}}}', "//registry.npmjs.org/:_auth=«YWRhOmh1bnRlcjI=»"),
        ('"auth"', "_auth"),
        rf"(?:_|\")auth{NAME_END}{SIGN}(?:{QUOTED}|{BARE_TOKEN})",
        "whole",
        is_auth_field,
    ),
)
