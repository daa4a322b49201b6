"""Patterns for secrets with a distinctive form or a fixed prefix, and in the syntax of a program, a file format or SQL.

`engine/redaction/secret_masking.py` has the rules for the expressions.
"""

import re

from engine.base import lazy_pattern
from engine.redaction.non_secrets import (
    PLACEHOLDER,
    is_auth_field,
    is_block,
    is_element,
    is_ordinary,
    is_sk_key,
    value_of,
)
from engine.redaction.secret_pattern import BARE_PASSWORD, BARE_TOKEN, LINE_END, NAME_END, QUOTED, SIGN, SecretPattern
from engine.redaction.secret_words import ANY_PASSWORD, PASSWORD_ANCHORS

LONG_AFTER_COLON = r":(?:(?<=[0-9]{6}:)|(?=[\s\"'`=>]{0,5}+(?=[A-Za-z0-9+/=_-]{15})[A-Za-z_/+-]{0,24}[0-9]))"
_START = r"(?<![A-Za-z0-9])"
_RANDOM = r"(?=[A-Za-z0-9_+/=-]{0,80}?[0-9A-Z])"
_DIGIT = r"(?=[A-Za-z0-9_-]{0,80}?[0-9])"


def _starting(*prefixes: str, body: str) -> str:
    return rf"{_START}((?:{'|'.join(prefixes)}){body})"


FORM_PATTERNS: tuple[SecretPattern, ...] = (
    SecretPattern(
        "Bearer token",
        "`Bearer` and at least 18 characters of a token",
        ('-H "X-Auth: Bearer «abcdefghij0123456789»"',),
        ("bearer ",),
        rf"{_START}(?i:bearer)[ \t]{{1,8}}(?=[A-Za-z0-9._+=/~-]{{0,80}}?[0-9A-Z])([A-Za-z0-9._+=/~-]{{18,}}+)",
    ),
    SecretPattern(
        "Private key",
        "every line of a PEM, OpenSSH, PGP or PuTTY private key, also when the end is missing or the line ends are "
        "escaped",
        (
            "-----BEGIN RSA PRIVATE KEY-----\n«MIIEowIBAAKCAQEA7bq2»\n«c3Rhcg==»\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN OPENSSH PRIVATE KEY-----\n«b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ»",
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n«lQOYBF2s3kQBCADHm1»\n«=aB3d»\n"
            "-----END PGP PRIVATE KEY BLOCK-----",
            '"private_key": "-----BEGIN PRIVATE KEY-----«\\nMIIEvQIBADANBgkqhkiG9w0B\\n»-----END PRIVATE KEY-----\\n"',
            "Private-Lines: 1\n«AAAAgQCuYqv5Zk3mN0pQ2rS4»",
        ),
        ("-----begin ", "private-"),
        r"(?:-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|(?i:private-lines:[ \t]{0,4}\d{1,4}))",
        "whole",
        block="key",
    ),
    SecretPattern(
        "OpenAI, Anthropic and similar keys",
        "`sk-…` (8 or more)",
        (
            "use «sk-proj-Ab3dEf6hIj9k»",
            "«sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWx»",
            "«sk-12345678»",
            "«sk-abcdefghijklmnop»",
            "«sk-or-abcdefghijklmnop»",
        ),
        ("sk-",),
        _starting("(?i:sk-)", body="[A-Za-z0-9_-]{8,}+"),
        judge=is_sk_key,
    ),
    SecretPattern(
        "Webhook address",
        "what follows the service's name in webhook addresses of Slack and Discord",
        (
            "https://hooks.slack.com/services/«T00000000/B00000000/abcdefghijklmnopqrstuvwx»",
            "https://discord.com/api/webhooks/123456789/«abcdefghijklmnopqrstuvwxyz_0123»",
        ),
        ("hooks.slack.", "discord.", "discordapp."),
        r"(?i:hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/\d{6,20}/)([A-Za-z0-9/_+-]{10,}+)",
    ),
    SecretPattern(
        "Telegram bot token",
        "the part after the number in `123456789:AA…`",
        ("123456789:«AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc»", "bot987654:«ABC-DEF1234ghIkl-zyx57W2v1u123ew11»"),
        (LONG_AFTER_COLON,),
        rf":(?<=[0-9]{{6}}:){_DIGIT}{_RANDOM}([A-Za-z0-9_-]{{20,}}+)",
    ),
    SecretPattern(
        "Azure key",
        "`AccountKey=`, `SharedAccessKey=` in connection strings, Entra secrets `…8Q~…`",
        (
            "AccountName=x;AccountKey=«AbCdEfGhIjKlMnOpQrStUvWxYz0123456789+/AbCd==»;EndpointSuffix=core.windows.net",
            "Endpoint=sb://x/;SharedAccessKeyName=Root;SharedAccessKey=«AbCdEfGhIjKlMnOpQrStUvWxYz01234567=»",
            "id abc8Q~«abcdefghijklmnopqrstuvwxyz.01234-»",
        ),
        ("key", "q~"),
        r"(?:(?i:(?:(?<=account)|(?<=sharedaccess))key=)([A-Za-z0-9+/=_-]{16,}+)"
        r"|[Qq]~(?<=[A-Za-z0-9_.~-]{3}[0-9][Qq]~)([A-Za-z0-9_.~-]{31,}+))",
    ),
    SecretPattern(
        "Signature of an address",
        "`sig=`, `Signature=`, `hmac=`, `X-Amz-Signature=`, `X-Goog-Signature=` in signed addresses and headers",
        (
            "https://x.blob.core.windows.net/c?sv=2022-11-02&sig=«AbCdEfGhIjKlMnOpQrSt%2BuVwXyZ%3D»&se=2030",
            "https://b.s3.amazonaws.com/k?X-Amz-Date=20260101&X-Amz-Signature=«4f0a9c1be07d5ca1b2c3d4e5f60718293a4b5c6d»",
            "https://x.cloudfront.net/a?Expires=1&Signature=«AbCdEfGh~IjKlMnOp0_qrstuv»&Key-Pair-Id=K1",
            "AWS4-HMAC-SHA256 Credential=x, SignedHeaders=host, Signature=«4f0a9c1be07d5ca1b2c3d4e5f60718293a4b»",
            "https://cdn.example/x?hdnts=exp=1~hmac=«4f0a9c1be07d5ca1b2c3d4e5f60718293a4b»",
        ),
        ("sig=", "signature=", "hmac="),
        r"(?:(?<=[?&;\s\"'])(?i:sig)=([A-Za-z0-9%+/=_-]{20,}+)"
        r"|(?:(?<=[?&~;])|(?<=[?&;]X-Amz-)|(?<=[?&;]X-Goog-)|(?<=, )|(?<=q-))(?i:signature|hmac)="
        r"(?=[A-Za-z0-9%+/=_~-]{0,80}?[0-9])([A-Za-z0-9%+/=_~-]{16,}+))",
    ),
    SecretPattern(
        "JSON web token",
        "`eyJ….eyJ…` with or without its signature",
        ("«eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4fwpMeJf36»",),
        ("eyj",),
        _starting("eyJ", body=r"[A-Za-z0-9_-]{8,1000}+\.[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]++)*+"),
    ),
)

# --- Syntax of programs, file formats and SQL ---------------------------------------------------------------------------

_OPTION_ANCHOR = r"-(?<=[ \t]-)(?=[upPaUw]|[A-Za-z#]{1,8}u[ \t\"']|-user|-proxy|-auth)"
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
_COMMAND = lazy_pattern(
    r"(?<![\w.-])(?:(curl|https?|xh|sshpass|login|redis-cli|sqlcmd|rar|(?:un)?zip|openssl)|(mysql|mariadb|mongo|7z|ldap)[\w-]{0,12})"
    r"(?=[ \t\\])"
)
_COMMAND_START = lazy_pattern(r"(?<!\\)\n|[|;]|&&")
_MACHINE = lazy_pattern(
    r"\b(?:machine\s{1,8}\S{1,253}|default\s{1,8}login\s{1,8}\S{1,128})(?:\s{1,8}(?:login|account)\s{1,8}\S{1,128}){0,2}\s{1,8}\Z"
)
_SQL = lazy_pattern(
    r"\b(?:with|encrypted|user|role|login|set|alter|create|grant|identified)\b[^\n]{0,40}\Z", re.IGNORECASE
)
_ACCOUNT = lazy_pattern(r"\b(?:create|alter|grant)\b", re.IGNORECASE)


def is_program_login(before: str, match: re.Match[str]) -> bool:
    """Whether the value of `-u user:…`, or of another option for name and password, is a secret."""
    form, options = _options(match)
    return form == "user:" and match["option"] in options.split() and not PLACEHOLDER.fullmatch(value_of(match))


def is_program_password(before: str, match: re.Match[str]) -> bool:
    """Whether the value of `-p…`, `-passin pass:…` or another option for a password is a secret."""
    form, options = _options(match)
    if form == "user:" or match["option"] not in options.split() or PLACEHOLDER.fullmatch(value_of(match)):
        return False
    return (form == "pass:") == bool(match["form"]) and not (form == "attached" and match["gap"])


def _options(match: re.Match[str]) -> tuple[str, str]:
    """Return the password options of the command to which the option belongs."""
    start = max(0, match.start() - _LOOK_BACK)
    commands = _COMMAND.findall(_COMMAND_START.split(match.string[start : match.start()])[-1])
    return _OPTIONS["".join(commands[-1])] if commands else ("", "")


def is_netrc(before: str, match: re.Match[str]) -> bool:
    """Whether the value in `machine … login … password …` (the netrc format) is a secret."""
    start = max(0, match.start() - _LOOK_BACK)
    return _MACHINE.search(match.string, start, match.start()) is not None and not is_ordinary(value_of(match))


def is_sql_password(before: str, match: re.Match[str]) -> bool:
    """Whether the value in `PASSWORD '…'` in SQL is a secret."""
    return _SQL.search(before) is not None and not PLACEHOLDER.fullmatch(value_of(match))


def is_identified(before: str, match: re.Match[str]) -> bool:
    """Whether the value in `IDENTIFIED BY …` in SQL is a secret."""
    value = value_of(match)
    if PLACEHOLDER.fullmatch(value) or (match["quoted"] is None and is_ordinary(value)):
        return False
    return match[0].startswith("IDENTIFIED") or _ACCOUNT.search(before) is not None


SYNTAX_PATTERNS: tuple[SecretPattern, ...] = (
    SecretPattern(
        "Login of a program",
        "`curl -u user:x`, `--user user:x`, `http -a user:x`",
        (
            "curl -u ada:«hunter2» https://example.com",
            "curl -X POST --user 'ada:«correct horse»' https://example.com",
            "curl -s \\\n  -u ada:«hunter2» \\\n  https://example.com",
            "curl -sSLu ada:«hunter2» https://example.com",
            "http -a ada:«hunter2» example.com",
        ),
        (_OPTION_ANCHOR,),
        r"""-(?:[A-Za-z#]{1,8}(?=u[ \t"']))?(?P<option>[uUa]|-user|-proxy-user|-auth)[ \t=]{0,2}"""
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
            "password: |\n  «correct horse»\n  «battery staple»\nuser: ada",
            "mot de passe: |\n  «soleil»",
        ),
        (*PASSWORD_ANCHORS, "token", "secret", "key"),
        rf"(?i:{ANY_PASSWORD}|token|secret|key)[\"']?[ \t]{{0,4}}:[ \t]{{0,4}}[|>]"
        r"[+-]?[0-9]?[+-]?[ \t]{0,8}\r?\n",
        "whole",
        is_block,
        block="yaml",
    ),
    SecretPattern(
        "Login in base64",
        '`"auth": "…"`, `_auth=…` of Docker, npm and others',
        (
            '{"auths": {"https://x": {"auth": "«YWRhOmh1bnRlcjI=»"}}}',
            "//registry.npmjs.org/:_auth=«YWRhOmh1bnRlcjI=»",
            "//registry.npmjs.org/:_authToken=«dXNlcjpwYXNz»",
            "_auth=«swordfish»",
        ),
        ('"auth"', "_auth"),
        rf"(?:_auth(?i:token)?|\"auth){NAME_END}{SIGN}(?:{QUOTED}|{BARE_TOKEN})",
        "whole",
        is_auth_field,
    ),
)
