"""Which values next to a secret's name are none: placeholders, code, ordinary words."""

import re
from collections.abc import Callable

Judge = Callable[[str, re.Match[str]], bool]
"""What stands before the match (up to 48 characters) and the match: whether its last group is a secret."""

LONGEST_JUDGED = 200
"""Characters. A longer value without a space is a secret whatever it looks like."""

_PLACEHOLDER = re.compile(
    r"""\$\{.*|\$\(.*|\$[A-Z_][A-Z0-9_]*|\$\w*(?:pass|pwd|token|key|secret)\w*|%\w+%|%[sd]|\{\{.*|\{\w*\}|<[^<>]*>?"""
    r"""|\[[a-z _-]+\]|[.…]+|[xX*•.…]{3,}|your[-_ ].*|\W{1,3}""",
    re.IGNORECASE | re.DOTALL,
)
_WORD = r"[^\W\d]+"
# A call, a subscript, a member of what programs keep settings in, a generic type.
_EXPRESSION = re.compile(
    rf"""[&*!(]*(?:new\s|await\s)?{_WORD}(?:(?:\.|::|->|\?\.){_WORD})*(?:[(\[]|<[A-Za-z])"""
    r"""|(?:self|this|os|process|env|config|cfg|settings|options|opts|args|argv|request|req|params|ctx|context|data|form"""
    rf"""|props|state|user|body|event|secrets|vars|import\.meta|app|cls|response|res|result|row|account)(?:\.{_WORD})+\W*"""
    r"""|[({\[].*""",
    re.ASCII | re.DOTALL,
)
_TYPES = frozenset(
    """none null nil undefined true false str string bytes bytearray int integer number float double bool boolean any
    unknown object never void secretstr optional union list dict text char varchar buffer symbol type function lambda
    self cls value default""".split()
)
# What follows "password is", "token:" and their like in ordinary text.
_WORDS = frozenset(
    """a about above absent accepted active added after again all already also always an and another any are as at
    available bad based be because been before being below better between blank both but by can cannot case changing
    compared correct could cracked current currently defined derived different do does don't easy either empty enough
    enter equal ever every exactly expiring exposed false fetched field fields fine first for forgot from generated get
    given gone good guess guessable handled hard hashed here hidden how however if in incorrect input insecure invalid
    is it its itself just kept known leaked left less like limit long longer lost made masked may me mandatory match
    matched missing more most must my needed never new no non-empty none not now null obvious of off ok okay old on one
    only optional or other our out passed please present protected provided public random read rejected required reset
    right safe same saved secret secure sent set shared short should shown simple so some something still stored strong
    stronger such supplied taken than that the their them then there these they this those through to too true trivial
    typed unchanged under undefined unique unknown unless unset until up updated used useful user valid verified very
    visible was weak what when where whether which who why will with within without working would wrong yes yet you
    your password passwords passwd passphrase token secret key keys username login example placeholder confirm
    confirmation show hide change repeat retype choose forgotten verify manager managers hash hashes prompt length
    option options flag flags argument parameter variable header setting file files strings
    per via ever into over onto upon inside outside during against among across back next end start part
    abgelaufen aber alle als auch auf aus bei bekannt bereits das dem den der des die durch ein eine einem einen einer
    falsch fehlt für geheim gespeichert gesetzt gut hier ich ihr im immer in ist ja jetzt kein keine leer lang mit nach
    nein nicht nie noch notwendig nur ob oder optional richtig schon schwach sehr sein sicher sind so stark um und
    ungültig unbekannt verloren von vom wenn wie wird wurde zu zum zur zwingend erforderlich korrekt""".split()
)
_PARTICIPLE = re.compile(r"[a-z]{2,}(?:ed|ly|able|ible|ert|iert)")
_TECHNICAL = re.compile(
    r"(?:sha-?\d|base(?:32|58|64)|utf-?\d|oauth|md5|[rhe]s\d{3}|uuid|\d+-(?:bit|byte|char|hex|digit|day|hour|minute|word))"
)
_UNIT = re.compile(
    r"\s*(?:char|letter|byte|bit|digit|day|hour|minute|month|week|year|word|time|zeichen|stellen|tage)", re.IGNORECASE
)
_TOWARDS = ("to", "auf", "wird", "will be", "should be", "must be")
_EDGES = "\"'`“”„\u2018\u2019«»()[]{}<>.,;:!?"
_NAME = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."
_LETTERS = re.compile("[A-Za-z]+")
_NAME_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_CAMEL = re.compile("[a-z][A-Z]")
# A variable or a field that holds one: token, user_token, apiKey, self.password.
_HOLDER = re.compile(r"[a-z_.$]*(?:password|passwd|passphrase|pwd|token|secret|key)s?", re.IGNORECASE | re.ASCII)
_NOT_RANDOM = re.compile(r"[A-Za-z_.-]*|[0-9.,:%+-]{1,5}|[A-Za-z]+[_.-]?\d{1,2}|v?\d+(?:\.\w+)+|\d{4}-\d\d-\d\d.*")
# The last part of a name before "key": which keys are secrets, and which tokens and keys are none.
_SECRET_KEYS = frozenset(
    """api access secret private auth encryption signing sign master app application client account license licence
    subscription service storage shared deploy admin openai anthropic aws azure google gemini github gitlab stripe
    sendgrid twilio mistral voyage cohere groq signature hmac jwt webhook bot security crypt decryption""".split()
)
_PLAIN = frozenset(
    """public pub primary foreign sort cache partition unique composite registry object row index hash dict map shortcut
    hot arrow return enter escape locale translation react lookup group order idempotency routing config answer next
    page max min num eos bos pad unk sep cls mask special start end first last prev previous current per by each
    continuation stop property""".split()
)
_PATH = re.compile(
    r"(?:[a-z]+:/)?(?:~|\.{1,2})?/[\w.@:-]+(?:/[\w.@?=-]*)*|(?:[a-z_.-]+|\d+)(?:/(?:[a-z_.-]+|\d+))+|\S+\.(?:pem|key|pub|crt|json|ya?ml|txt|py|ts|js|md|toml|env)"
)
_DOTTED = re.compile(rf"{_WORD}(?:(?:\.|::|->){_WORD})+", re.ASCII)
_NUMBER = re.compile(r"[\d.,_%+-]+")
_AWS_SECRET_LENGTH = 40  # one may begin with a slash and look like a path
_DATABASE = re.compile(
    r"(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|mssql|sqlserver|oracle|clickhouse)(?:\+\w+)?\Z",
    re.IGNORECASE,
)


def secret_span(match: re.Match[str]) -> tuple[int, int]:
    """Where the last group stands that is not empty; the whole match if there is none."""
    for group in range(match.re.groups, 0, -1):
        if match.end(group) > match.start(group):
            return match.span(group)
    return match.span()


def is_password(before: str, match: re.Match[str]) -> bool:
    """For `password = …`: anything but code, placeholders and the words that follow in prose."""
    value = _value(match)
    return not (_is_ordinary(value) or (match["quoted"] is None and _is_code(value)))


def is_option_password(before: str, match: re.Match[str]) -> bool:
    """For `--password …`."""
    return _is_option(before) and is_password(before, match)


def is_spoken_password(before: str, match: re.Match[str]) -> bool:
    """For `the password is …`."""
    value = _value(match).strip(_EDGES)
    if _is_ordinary(value) or _is_code(value) or (len(value) <= 3 and _UNIT.match(match.string, match.end())):
        return False
    groups = match.groupdict()
    if groups.get("quoted") or groups.get("typed"):
        return True
    if _PARTICIPLE.fullmatch(value.split()[0]):
        return False
    return (groups.get("sign") or "").lower() not in _TOWARDS or not value.isalpha()


def is_token(before: str, match: re.Match[str]) -> bool:
    """For `token = …` and `secret = …`."""
    name, parts = _name(before, match), _parts(before)
    word = name[-6:].lower()  # "_token" or "secret"
    telling = bool(parts) or name.isupper() or word == "secret" or _in_quotes(match)
    if not _may_be_token(_value(match), parts):
        return False
    if word == "secret" and _value(match).islower() and _fills_line(before, match):
        return True
    return _is_random(_value(match), 6) or (telling and _is_given(match, name))


def is_key(before: str, match: re.Match[str]) -> bool:
    """For `… key = …`: keys of dictionaries, tables and sorting are none."""
    name, parts = _name(before, match), _parts(before)
    if not _may_be_token(_value(match), parts):
        return False
    telling = parts[-1:] and parts[-1] in _SECRET_KEYS
    return _is_random(_value(match), 12) or bool((telling or _is_variable(name, match)) and _is_given(match, name))


def is_option_token(before: str, match: re.Match[str]) -> bool:
    """For `--token …`, `--secret …`, `--api-key …`."""
    parts = _parts(before)
    if not _is_option(before) or not _may_be_token(_value(match), parts):
        return False
    is_key_of_what = match[0][:3].lower() == "key" and parts[-1:] and parts[-1] not in _SECRET_KEYS
    return not is_key_of_what or _is_random(_value(match), 12)


def is_authorization(before: str, match: re.Match[str]) -> bool:
    """For what an authorization header holds."""
    return not _is_ordinary(_value(match))


def is_spoken_token(before: str, match: re.Match[str]) -> bool:
    """For `the token is …`, `API key is …`, `PIN is …`: only what looks random."""
    value = _value(match).strip(_EDGES)
    if match[0][:3].lower() == "pin":
        return value.isdigit() and 4 <= len(value) <= 12
    return _may_be_token(value, _parts(before)) and not _is_code(value) and _is_random(value, 6)


def is_address_password(before: str, match: re.Match[str]) -> bool:
    """For `scheme://user:…@`: with a slash in it only where nothing but a database can be meant."""
    if match[1] is None and not _DATABASE.search(before):
        return False
    return not _PLACEHOLDER.fullmatch(_value(match))


def _value(match: re.Match[str]) -> str:
    start, end = secret_span(match)
    return match.string[start : min(end, start + LONGEST_JUDGED)]


def _is_ordinary(value: str) -> bool:
    """Whether the value is empty, a placeholder, or a word of ordinary text."""
    words = [word.strip(_EDGES) for word in value.strip(_EDGES + "*_").casefold().split(maxsplit=4)[:4]]
    if not words or _PLACEHOLDER.fullmatch(value):
        return True
    if words[0] in _WORDS:  # in "correct horse battery staple" too
        return len(words) == 1 or any(word in _WORDS for word in words[1:])
    return words[0] in _TYPES or _TECHNICAL.match(words[0]) is not None


def _is_code(value: str) -> bool:
    """Whether an unquoted value is an expression or a variable that holds the secret rather than the secret."""
    plain = value.strip(_EDGES + "&*?|")
    return _EXPRESSION.match(value) is not None or plain.lower() in _TYPES or _HOLDER.fullmatch(plain) is not None


def _may_be_token(value: str, parts: list[str]) -> bool:
    """Whether a token or a key of this name can look like this at all."""
    if len(value) < 4 or " " in value or _is_ordinary(value) or (parts and parts[-1] in _PLAIN):
        return False
    if _NUMBER.fullmatch(value) and sum(map(str.isdigit, value)) < 6:
        return False
    return len(value) == _AWS_SECRET_LENGTH or not (_PATH.fullmatch(value) or _DOTTED.fullmatch(value))


def _is_random(value: str, least: int) -> bool:
    """Whether it has letters and digits enough that no one would use it as a name."""
    if len(value) < least or _NOT_RANDOM.fullmatch(value):
        return False
    digits = sum(map(str.isdigit, value))
    return digits >= (1 if least < 12 else 2) and (digits < len(value) or digits >= 6)


def _is_given(match: re.Match[str], name: str) -> bool:
    """Whether a value under a telling name is written out rather than named."""
    if match["quoted"] is not None:
        return True
    value = _value(match)
    if _is_code(value) or match.string[match.end() : match.end() + 1] in ("(", "["):
        return False
    return (
        name.isupper()
        or not value.isidentifier()
        or (len(value) >= 10 and "_" not in value and not _CAMEL.search(value))
    )


def _name(before: str, match: re.Match[str]) -> str:
    """The whole name, of which the match begins with the last part."""
    return before[len(before.rstrip(_NAME)) :] + _LETTERS.match(match[0])[0]  # type: ignore[index] # it begins so


def _parts(before: str) -> list[str]:
    """What comes before the last part of the name, in lower case; without any, the word before it."""
    attached = before[len(before.rstrip(_NAME)) :]
    if not attached and before.endswith((" ", "-")):
        attached = before[:-1][len(before[:-1].rstrip(_NAME)) :]
    return [part.lower() for part in _NAME_PARTS.findall(attached)]


def _is_variable(name: str, match: re.Match[str]) -> bool:
    """Whether it is set as a shell does it: NAME=value."""
    return name.isupper() and "=" in match[0] and not any(map(str.isspace, match[0]))


def _in_quotes(match: re.Match[str]) -> bool:
    """Whether the name is the key of a JSON object."""
    name = _LETTERS.match(match[0])
    return name is not None and match[0][name.end() :].lstrip("\\")[:1] in ('"', "'")


def _fills_line(before: str, match: re.Match[str]) -> bool:
    """Whether name and value are all that the line holds, as in a configuration file."""
    rest = match.string[match.end() : match.end() + 1]
    return rest in ("", "\n", "\r") and not before.rpartition("\n")[2].strip(_NAME + " \t")


def _is_option(before: str) -> bool:
    return "--" in before[len(before.rstrip(_NAME)) :] + "-" and before.rstrip(_NAME) != before
