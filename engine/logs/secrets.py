"""What looks like a secret in a line of the log: more is masked there than in sessions."""

import re

from engine.redaction import masks

_SECRETS = (
    # name = value, "name": "value", --name value, name: Bearer value
    re.compile(
        r"""((?:(?:key|token|secret|passw(?:or)?d)["']?\s*[=:]\s*|--[\w-]*(?:key|token|secret|password)\s+)"""
        r"""["']?(?:(?:bearer|basic)\s+)?)"""
        r"""(?!-----BEGIN)[^\s"',;&)]{4,}""",
        re.IGNORECASE,
    ),
    re.compile(
        r"""(authorization["']?\s*[=:]\s*["']?(?:[a-z][\w-]*\s+(?=\S))?)(?!-----BEGIN)(?:\*{3}|[^\s"',;&)]{4,})""",
        re.IGNORECASE,
    ),
    re.compile(r"(\bbearer\s+)[\w.~+/=-]{8,}", re.IGNORECASE),
    re.compile(r"(\b[a-z][a-z+.-]*://[^\s/:@]*:)[^\s/@]+(?=@)", re.IGNORECASE),
    # forms that the well-known services use
    re.compile(
        r"()\b(?:sk-[\w*-]{8,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|xox[a-z]-[\w-]{8,}|xapp-[\w-]{8,}|gsk_\w{8,}"
        r"|pplx-\w{8,}|(?:pa|al)-[\w-]{20,}|hf_\w{20,}|npm_\w{20,}|AIza[\w-]{20,}|AKIA[A-Z0-9]{16}|\d{6,}:[\w-]{30,})"
    ),
)


def masked(text: str) -> str:
    """`text` with everything masked that looks like a key, a token or a password."""
    text = masks.redact(text, whole=True)
    for pattern in _SECRETS:
        text = pattern.sub(r"\1***", text)
    return text
