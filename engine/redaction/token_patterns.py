"""Patterns for secrets with a distinctive form or a fixed prefix.

`engine/redaction/secret_masking.py` has the rules for the expressions.
"""

from engine.redaction.non_secrets import is_sk_key
from engine.redaction.secret_pattern import SecretPattern

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
