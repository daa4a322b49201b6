"""Secrets that what stands around them tells: a name before a sign, an option, a header, an address, a sentence.

Anything may be one there, so a judge looks at each. `engine/redaction/patterns.py` has the rules for the expressions.
"""

from engine.redaction.pattern import SecretPattern
from engine.redaction.values import (
    is_address_password,
    is_authorization,
    is_key,
    is_option_password,
    is_option_token,
    is_password,
    is_spoken_password,
    is_spoken_token,
    is_token,
)

_LINE_END = r"\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
_QUOTED = rf"""(?:(?P<quote>\\{{0,8}}["'`])(?P<quoted>(?:(?!(?P=quote))(?:\\.|[^{_LINE_END}])){{1,500}}+)(?P=quote))"""
_NAME_END = r"""(?:[_-]?\d{1,2})?(?![A-Za-z0-9_-])\\{0,8}["'`*]{0,3}[ \t]{0,8}"""
_TYPE = r"[A-Za-z_][A-Za-z0-9_.|\[\] ]{0,40}"
_SIGN = (
    rf"(?P<sign>(?::[ \t]{{0,4}}{_TYPE}[ \t]{{0,4}}=(?!=)|={{1,3}}>?|![=]{{1,2}}|:=|:(?!:)|->|→)\*{{0,2}}[ \t]{{0,8}})"
)
_BARE_TOKEN = r"""(?:\\{0,8}["'`]|[*]{1,2})?([^\s"'`\\;,&<>(){}\[\]|*]++)"""
# A password may hold anything; the next field of a connection string or of a query ends it.
_BARE_PASSWORD = r"""(?:\\{0,8}["'`])?((?:[^\s"'`\\;&]|[;&](?![\w .]{1,30}=)|\\(?![nrt"'`\\]))+(?<![.,:)\]}>]))"""
_PASSWORD_NAME = "(?i:passw(?:or[dt]|d)|passphrase|passcode|kennwort|pwd)"
_OPTION = r"[ \t]{1,4}"
_SPOKEN_LINK = (
    rf"(?i:(?:[ \t]{{1,4}}(?:for|of|to|on|in|für|von|zu|zum|zur|am|im)\b[^.:;!?{_LINE_END}]{{1,60}}?)?"
    r"[ \t]{1,4}(?P<sign>is|was|will be|should be|must be|ist|war|lautet|heißt|heisst|wird|to|auf)\b"
    r"[ \t]{0,4}:?[ \t]{0,4}"
    r"(?:(?:now|still|currently|just|simply|actually|set to|changed to|jetzt|nun|noch)\b[ \t]{1,4}:?[ \t]{0,4})?)"
)
_TYPED = r"(?!\*{3}(?![\w*]))[“\u2018„«*_(\[]{0,4}"
_BARE_SPOKEN = r"""([^\s"`]*[^\s"`.,;:!?…*_)\]”»])"""

TOLD_BY_SURROUNDINGS: tuple[SecretPattern, ...] = (
    SecretPattern(
        "Password by name",
        "`password`, `passwd`, `pwd`, `passphrase`, `Passwort`, `Kennwort` before `=` or `:`, in any case and quoting",
        (
            "DB_PASSWORD=«hunter2»",
            '{"password": "«correct horse»"}',
            "passwd: «swordfish»",
            'json: {\\"password\\":\\"«hunter2»\\"}',
            "Server=db;Password=«pa$$w0rd»;Database=x",
        ),
        ("pass", "kennwort", "pwd"),
        rf"{_PASSWORD_NAME}{_NAME_END}{_SIGN}(?:{_QUOTED}|{_BARE_PASSWORD})",
        "whole",
        is_password,
    ),
    SecretPattern(
        "Token or secret by name",
        "names that end in `token` or `secret` before `=` or `:` (variables, JSON, YAML, headers)",
        (
            "GITHUB_TOKEN=«abcdefgh»",
            '{"accessToken": "«abc123def456»", "refreshToken": "«zzzyyyxxx»"}',
            '{"secret":"«opensesame»"}',
            "client_secret: «Zk3_9mQ2~x»",
            "session_token = '«IQoJb3JpZ2luX2VjEXAMPLE»'",
        ),
        ("token", "secret"),
        rf"(?i:token|secret){_NAME_END}{_SIGN}(?:{_QUOTED}|{_BARE_TOKEN})",
        judge=is_token,
    ),
    SecretPattern(
        "Key by name",
        "names that end in `key` before `=` or `:`; AWS's `aws_secret_access_key` among them",
        (
            "OPENAI_API_KEY=«abcdefghijkl»",
            '{"apiKey": "«abcdefghijkl»"}',
            "aws_secret_access_key = «wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»",
            "X-Api-Key: «a1b2c3d4e5f6»",
            '"SecretAccessKey": "«/JalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»"',
        ),
        ("key",),
        rf"(?i:key){_NAME_END}{_SIGN}(?:{_QUOTED}|{_BARE_TOKEN})",
        judge=is_key,
    ),
    SecretPattern(
        "Password on a command line",
        "`--password x`, `--passwd x`, `--passphrase x`",
        ("login --password «hunter2»", "gpg --passphrase '«open sesame»'"),
        ("pass",),
        rf"(?<=-)(?i:password|passwd|passphrase){_OPTION}(?:{_QUOTED}|{_BARE_PASSWORD})",
        "whole",
        is_option_password,
    ),
    SecretPattern(
        "Token on a command line",
        "`--api-key x`, `--token x`, `--secret x` and options that end so",
        ("run --api-key «abcdefgh» -v", "run --token «abc123def»", "run --client-secret '«s3cr3t-value»'"),
        ("token", "secret", "key"),
        rf"(?<=[-_])(?i:token|secret|key){_OPTION}(?:{_QUOTED}|{_BARE_TOKEN})",
        judge=is_option_token,
    ),
    SecretPattern(
        "Authorization header",
        "`Authorization: Bearer x`, also `Basic`, `Token` and no scheme",
        (
            "Authorization: Bearer «abcdef»",
            "'authorization': 'Basic «dXNlcjpodW50ZXIy»'",
            "Authorization=Bearer «a.b-c_d»",
        ),
        ("authorization",),
        r"""(?i:authorization)\\{0,8}["'`]?[ \t]{0,8}[:=][ \t]{0,8}\\{0,8}["'`]?"""
        r"""(?:(?i:bearer|basic|token|apikey|bot)[ \t]{1,8}(?=\S)|(?=[^\s"']{0,80}?[0-9]))([^\s"'`\\,;<>{}$]{4,}+)""",
        judge=is_authorization,
    ),
    SecretPattern(
        "Password in an address",
        "`scheme://user:password@host`: databases, message brokers, basic authentication",
        (
            "postgres://user:«pw»@db/x",
            "mysql://root:«p@ss»@localhost:3306/app",
            "mongodb+srv://u:«hunter2»@cluster0.example.net",
            "redis://:«hunter2»@localhost:6379/0",
            "amqp://worker:«rabbit»@mq",
            "https://user:«hunter2»@example.com/path",
            "postgresql://u:«a/b#c?»@db/x",
        ),
        ("://",),
        r"""://[^\s/?#@:"'<>`\\]{0,128}:(?:([^\s/?#"'<>`\\]{1,256})@"""
        r"""|([^\s"'<>`\\@]{1,256})@)""",
        "whole",
        is_address_password,
    ),
    SecretPattern(
        "Password in speech",
        "`password is …`, `the password for the router is …`, `Passwort ist …`, `set the password to …`",
        (
            "The password is «hunter2», he said.",
            "my password for the old router is: «swordfish»",
            "Das Passwort ist «Geheim123».",
            "Das Kennwort lautet „«Sesam öffne dich»“",
            "set the password to «xK9#mm2»",
            "password is **«hunter2»**",
        ),
        ("pass", "kennwort", "pwd"),
        rf"{_PASSWORD_NAME}{_SPOKEN_LINK}{_TYPED}(?:{_QUOTED}|(?<=[„“«])(?P<typed>[^”“»{_LINE_END}]{{1,200}}+)[”“»]"
        rf"|{_BARE_SPOKEN})",
        "whole",
        is_spoken_password,
    ),
    SecretPattern(
        "Passphrase in speech",
        "all words up to the end of the sentence after `passphrase:` and `the passphrase is`",
        ("passphrase: «correct horse battery staple»", "The passphrase is «correct horse battery staple». Keep it."),
        ("pass",),
        rf"(?i:passphrase)(?:[ \t]{{0,4}}(?P<sign>[:=])[ \t]{{0,4}}|{_SPOKEN_LINK.replace('<sign>', '<verb>')})"
        rf"(?![\"'`„“«*_])((?:[^{_LINE_END}.!?;\"“”»]|[.!?;](?=[^\s\"'“”»])){{1,400}}+)",
        "whole",
        is_spoken_password,
    ),
    SecretPattern(
        "Token or pin in speech",
        "`the token is …`, `the API key for x is …`, `secret is …`, `PIN is 1234`",
        (
            "the token is «abc123def456», use it",
            "Your API key for Foo is «k9Jx2Lm4Qp»",
            "Der Schlüssel: secret ist «s3cr3tw0rd»",
            "My PIN is «4711».",
        ),
        ("token", "key", "secret", "pin"),
        r"(?i:token|key|secret|(?<![a-z])pin(?:[ -]?(?:code|number))?)"
        rf"{_SPOKEN_LINK}{_TYPED}(?:{_QUOTED}|{_BARE_SPOKEN})",
        judge=is_spoken_token,
    ),
)
